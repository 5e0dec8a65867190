package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.api.TierUsage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A replica that catches up writes old data: it leaves scarce space to new data. */
final class OldDataTest {

  private static final int POOL = 16 << 20;
  private static final int LENGTH = 10_000;

  private static final byte[] NEW = Batches.of(LENGTH, 1);
  private static final byte[] OLD =
      Batches.of(LENGTH, 2, System.currentTimeMillis() - TimeUnit.HOURS.toMillis(1));
  private static final byte[] WITHOUT_TIMESTAMP = Batches.of(LENGTH, 3, -1);

  @TempDir private Path directory;
  private TierFixture fixture;
  private Path file;

  @BeforeEach
  void open() throws IOException {
    fixture = new TierFixture(directory).pool("pool", POOL);
    fixture.open();
    file = fixture.segment("orders-0", 0);
  }

  @AfterEach
  void close() throws IOException {
    fixture.close();
  }

  /** Another partition takes most of the pool. */
  private void makeScarce() throws IOException {
    Path other = fixture.segment("other-0", 0);
    ByteBuffer bytes = ByteBuffer.wrap(Batches.of(64 << 10, 77));
    try (FileChannel channel = fixture.tier().open(other, TierFixture.KAFKA).orElseThrow()) {
      while (usedShare() < 0.85) {
        int unused = channel.write(bytes.clear(), channel.size());
      }
    }
    assertThat(fixture.view(other).spilled()).isFalse();
  }

  private double usedShare() {
    TierUsage pools = fixture.tier().tieredSegments().state().tiers().get(0);
    return (double) pools.usedBytes() / pools.capacityBytes();
  }

  private void assertInLogFile(byte[] expected) throws IOException {
    assertThat(fixture.view(file).spilled()).isTrue();
    assertThat(Files.readAllBytes(file)).isEqualTo(expected);
    assertThat(fixture.read(file)).isEqualTo(expected);
  }

  private void assertInPool(byte[] expected) throws IOException {
    assertThat(fixture.view(file).spilled()).isFalse();
    assertThat(Files.size(file)).isZero();
    assertThat(fixture.read(file)).isEqualTo(expected);
  }

  @Test
  void oldDataGoesToTheLogFileWhereSpaceIsScarce() throws IOException {
    makeScarce();
    fixture.append(file, OLD);
    assertInLogFile(OLD);
    fixture.reopen();
    assertInLogFile(OLD);
    fixture.append(file, NEW);
    byte[] both = ByteBuffer.allocate(OLD.length + NEW.length).put(OLD).put(NEW).array();
    assertInLogFile(both);
  }

  @Test
  void oldDataGoesToThePoolWhereThereIsSpace() throws IOException {
    fixture.append(file, OLD);
    assertInPool(OLD);
  }

  @Test
  void newDataGoesToThePoolWhereSpaceIsScarce() throws IOException {
    makeScarce();
    fixture.append(file, NEW);
    assertInPool(NEW);
  }

  @Test
  void dataWithoutTimestampsIsNotOld() throws IOException {
    makeScarce();
    fixture.append(file, WITHOUT_TIMESTAMP);
    assertInPool(WITHOUT_TIMESTAMP);
  }

  /** What a segment goes on with does not matter: it is decided when it begins. */
  @Test
  void oldDataGoesWhereItsSegmentIs() throws IOException {
    makeScarce();
    fixture.append(file, NEW);
    fixture.append(file, OLD);
    byte[] both = ByteBuffer.allocate(OLD.length + NEW.length).put(NEW).put(OLD).array();
    assertInPool(both);
  }
}
