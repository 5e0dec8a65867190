package io.strata.kafka.tier;

import static io.strata.kafka.tier.TierFixture.assertDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.tier.spec.TierEvents;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * One partition's directory of another moment, attributes and all, beside a pool that has a segment
 * of it still: neither the bytes of the one nor those of the other are dropped.
 */
final class RestoredLiveSegmentTest {

  private static final int MIB = 1 << 20;
  private static final byte[] BATCHES = Batches.of(700_000, 1);
  private static final byte[] MORE = Batches.of(100_000, 2);

  @TempDir private Path directory;
  private TierFixture fixture;
  private Path partition;
  private Path segment;
  private final List<String> skipped = new ArrayList<>();
  private final TierEvents events =
      new TierEvents() {
        @Override
        public void logDirectorySkipped(Path path, String reason) {
          skipped.add(path + ": " + reason);
        }
      };

  @BeforeEach
  void aPool() throws IOException {
    fixture = new TierFixture(Files.createDirectory(directory.resolve("broker")));
    fixture.pool("a.pool", 16 * MIB).events = events;
    fixture.open();
    partition = fixture.partition("orders-0");
    segment = fixture.segment("orders-0", 0);
  }

  @AfterEach
  void close() throws IOException {
    fixture.close();
  }

  private static Path copy(Path original, Path copy) throws Exception {
    Process process =
        new ProcessBuilder("cp", "-a", original.toString(), copy.toString()).inheritIO().start();
    assertThat(process.waitFor()).isZero();
    return copy;
  }

  /** Each start leaves the log directory out, and changes nothing. */
  private void assertSkipped(String reason) throws IOException {
    byte[] bytes = Files.readAllBytes(segment);
    for (int start = 0; start < 3; start++) {
      skipped.clear();
      fixture.open();
      assertThat(skipped)
          .singleElement()
          .asString()
          .contains(
              segment.toString(),
              "recovery failed at",
              "found zeros at the end of the first",
              reason);
      assertThatThrownBy(() -> fixture.read(segment)).isInstanceOf(IOException.class);
      fixture.close();
      assertThat(Files.readAllBytes(segment)).isEqualTo(bytes);
    }
    skipped.clear();
  }

  /** The segment spills, and the copy is made; then the pool's bytes are copied into the hole. */
  @Test
  void anOlderCopyWithAHoleTakesItsLogDirectoryOffline() throws Exception {
    Path full = fixture.segment("full-0", 0);
    fixture.append(full, Batches.of(7 * MIB, 3));
    fixture.append(segment, Batches.of(9 * MIB, 4));
    assertThat(fixture.view(segment).spilled()).isTrue();
    fixture.awaitBackgroundWork();
    Path older = copy(partition, directory.resolve("older"));
    byte[] all = fixture.read(segment);
    int inPool = (int) fixture.view(segment).poolBytes();
    assertDone(fixture.destage(segment, 1));
    fixture.close();
    Path current = Files.move(partition, directory.resolve("current"));
    Path unused = copy(older, partition);

    assertSkipped("an older copy of the partition's directory is in its place");

    Path aside = Files.move(partition, directory.resolve("aside"));
    assertThat(aside).exists();
    Files.move(current, partition);
    fixture.open();
    assertThat(skipped).isEmpty();
    assertThat(fixture.read(segment)).isEqualTo(all);
    fixture.close();
    // The remedy of the message, where the current one is lost.
    Files.write(segment, new byte[0], StandardOpenOption.TRUNCATE_EXISTING);
    fixture.open();
    assertThat(skipped).isEmpty();
    assertThat(fixture.read(segment)).isEqualTo(Arrays.copyOf(all, inPool));
  }

  @Test
  void aNewerOneBesideAnOlderPoolIsReadWhole() throws Exception {
    fixture.append(segment, BATCHES);
    fixture.awaitBackgroundWork();
    fixture.close();
    TierFixture older = fixture.copyTo(directory.resolve("older"));
    fixture.open();
    fixture.append(segment, MORE);
    while (fixture.view(segment).dirtyBytes() > 0) {
      assertDone(fixture.destage(segment, 1));
    }
    byte[] all = fixture.read(segment);
    assertThat(Files.size(segment)).isEqualTo(all.length);
    fixture.close();
    Path newer = partition;
    fixture = older;
    fixture.events = events;
    partition = fixture.partition("orders-0");
    segment = fixture.segment("orders-0", 0);
    Path unused = Files.move(partition, directory.resolve("aside"));
    Path unusedToo = copy(newer, partition);

    Files.writeString(fixture.logs().resolve(".kafka_cleanshutdown"), "{}");
    for (int start = 0; start < 3; start++) {
      fixture.open();
      assertThat(skipped).isEmpty();
      assertThat(fixture.read(segment)).isEqualTo(all);
      fixture.close();
    }
  }
}
