package io.strata.kafka.tier.offline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.Batches;
import io.strata.kafka.tier.TierFixture;
import io.strata.kafka.tier.directory.LogDirectory;
import io.strata.kafka.tier.spec.TierEvents;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DrainTest {

  private static final long MIB = 1 << 20;

  @TempDir private Path temp;
  private TierFixture fixture;
  private final Map<Path, byte[]> written = new LinkedHashMap<>();

  @BeforeEach
  void open() throws IOException {
    fixture = new TierFixture(temp).pool("strata.pool", 16 * MIB);
    fixture.open();
    for (int i = 0; i < 5; i++) {
      Path file = fixture.segment("orders-" + i, i);
      byte[] bytes = TierFixture.bytes(i * 100_000, i);
      fixture.append(file, bytes);
      written.put(file, bytes);
    }
    Path spilled = fixture.segment("orders-9", 0);
    byte[] bytes = TierFixture.bytes((int) (20 * MIB), 9);
    fixture.append(spilled, bytes);
    written.put(spilled, bytes);
    assertThat(fixture.tier().figures().spilled()).isEqualTo(1);
  }

  @Test
  void aDirectoryThatIsThereAndCannotBeUsedIsReportedWithTheReason() throws IOException {
    fixture.close();
    Path second = Files.createDirectory(fixture.root.resolve("second"));
    Path missing = fixture.root.resolve("missing");
    // A directory in its place cannot be read.
    Files.createDirectory(second.resolve("meta.properties"));
    fixture.logDirectories.add(second);
    fixture.logDirectories.add(missing);
    Drain.Report report = Drain.run(fixture.spec(), TierEvents.NONE, ProgressListener.NONE);
    assertThat(report.kept()).isEmpty();
    assertThat(report.skipped())
        .hasSize(2)
        .anySatisfy(
            line ->
                assertThat(line)
                    .startsWith(second + ": ")
                    .contains("meta.properties: Is a directory"))
        .anySatisfy(line -> assertThat(line).startsWith(missing + ": it is not a directory"));
    assertThat(report.complete()).isFalse();
  }

  @Test
  void everyByteIsInLogFileAndNothingOfStrataIsLeft() throws IOException {
    fixture.close();
    Drain.Report report = Drain.run(fixture.spec(), TierEvents.NONE, ProgressListener.NONE);
    assertThat(report.complete()).isTrue();
    assertThat(report.segments()).isEqualTo(written.size());
    for (Map.Entry<Path, byte[]> each : written.entrySet()) {
      assertThat(Files.readAllBytes(each.getKey())).isEqualTo(each.getValue());
      assertThat(SegmentTag.read(each.getKey())).isEmpty();
    }
    assertThat(LogDirectory.find(fixture.logs())).isEmpty();
    fixture.open();
    assertThat(fixture.tier().figures().hot()).isZero();
    assertThat(fixture.tier().pools().get(0).usage().usedBytes()).isZero();
    fixture.close();
  }

  /**
   * The pool's copy of a clean segment is the one that is damaged. Where it has spilled may be
   * within a batch, so that the log file is good as a whole only.
   */
  @ParameterizedTest
  @ValueSource(ints = {700_000, 18_000_000})
  void aGoodLogFileIsNotOverwrittenWithADamagedCopy(int length) throws Exception {
    TierFixture other =
        new TierFixture(Files.createDirectory(temp.resolve("other"))).pool("a.pool", 16 * MIB);
    other.open();
    other.append(other.segment("clean-0", 1000), Batches.of(1_000, 2));
    Path clean = other.segment("clean-0", 0);
    byte[] batches = Batches.of(length, 1);
    other.append(clean, batches);
    assertThat(other.view(clean).spilled()).isEqualTo(length > 16 * MIB);
    long position =
        other
            .tier()
            .registry()
            .find(other.view(clean).id())
            .orElseThrow()
            .slot()
            .extents()
            .get(0)
            .position();
    TierFixture.assertDone(other.destage(clean, 1));
    other.close();
    try (FileChannel pool =
        FileChannel.open(other.pools.get(0), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      pool.write(ByteBuffer.wrap(new byte[] {7, 7, 7}), position + 5_000);
    }
    Drain.run(other.spec(), TierEvents.NONE, ProgressListener.NONE);
    assertThat(Files.readAllBytes(clean)).isEqualTo(batches);
  }

  @Test
  void aDrainCanBeRunAgain() throws IOException {
    fixture.close();
    Drain.run(fixture.spec(), TierEvents.NONE, ProgressListener.NONE);
    Drain.Report again = Drain.run(fixture.spec(), TierEvents.NONE, ProgressListener.NONE);
    assertThat(again.segments()).isZero();
    assertThat(again.complete()).isTrue();
  }

  /** A partition's directory is away for a while: only the pool has its newest records. */
  @Test
  void aSegmentWhoseLogFileIsMissingKeepsTheDrainIncomplete() throws IOException {
    fixture.close();
    Path partition = fixture.logs().resolve("orders-4");
    Path away = temp.resolve("away");
    Files.move(partition, away);
    Drain.Report report = Drain.run(fixture.spec(), TierEvents.NONE, ProgressListener.NONE);
    assertThat(report.kept())
        .singleElement()
        .asString()
        .startsWith(partition.toString())
        .contains("bring it back");
    assertThat(report.complete()).isFalse();
    assertThat(LogDirectory.find(fixture.logs())).isPresent();
    Files.move(away, partition);
    assertThat(Drain.run(fixture.spec(), TierEvents.NONE, ProgressListener.NONE).complete())
        .isTrue();
    for (Map.Entry<Path, byte[]> each : written.entrySet()) {
      assertThat(Files.readAllBytes(each.getKey())).isEqualTo(each.getValue());
    }
  }

  /** A script repeats a command that has failed: that says nothing of why the file is missing. */
  @Test
  void aDrainThatIsRepeatedFreesNothingThatIsMissing() throws IOException {
    fixture.close();
    Path partition = fixture.logs().resolve("orders-4");
    Path away = Files.move(partition, temp.resolve("away"));
    Drain.Report report = Drain.run(fixture.spec(), TierEvents.NONE, ProgressListener.NONE);
    for (int i = 0; i < 2; i++) {
      report = Drain.run(fixture.spec(), TierEvents.NONE, ProgressListener.NONE);
      assertThat(report.complete()).isFalse();
      assertThat(report.kept()).hasSize(1);
    }
    UUID id = LogDirectory.find(fixture.logs()).orElseThrow().id();
    assertThat(report.kept().get(0))
        .contains("strata pool forget --directory " + id + " --segment orders-4/");
    Path unused = Files.move(away, partition);
    assertThat(Drain.run(fixture.spec(), TierEvents.NONE, ProgressListener.NONE).complete())
        .isTrue();
  }

  /** The broker has run for ten minutes without the file: its next start frees the bytes. */
  @Test
  void aDrainKeepsWhatTheNextStartWouldFree() throws IOException {
    fixture.close();
    Path partition = fixture.logs().resolve("orders-4");
    Path away = Files.move(partition, temp.resolve("away"));
    fixture.open();
    fixture.tier().noteMissing();
    fixture.close();
    Drain.Report report = Drain.run(fixture.spec(), TierEvents.NONE, ProgressListener.NONE);
    assertThat(report.complete()).isFalse();
    assertThat(report.kept()).singleElement().asString().contains("orders-4", "pool forget");
    Files.move(away, partition);
    assertThat(Drain.run(fixture.spec(), TierEvents.NONE, ProgressListener.NONE).complete())
        .isTrue();
    for (Map.Entry<Path, byte[]> each : written.entrySet()) {
      assertThat(Files.readAllBytes(each.getKey())).isEqualTo(each.getValue());
    }
  }

  /** As the report says. */
  @Test
  void aDrainIsCompleteWhenWhatIsMissingHasBeenForgotten() throws IOException {
    fixture.close();
    Path away = Files.move(fixture.logs().resolve("orders-4"), temp.resolve("away"));
    assertThat(Drain.run(fixture.spec(), TierEvents.NONE, ProgressListener.NONE).complete())
        .isFalse();
    UUID id = LogDirectory.find(fixture.logs()).orElseThrow().id();
    AcceptedLoss.GivenUp missing =
        AcceptedLoss.GivenUp.of(id, Optional.empty(), fixture.logDirectories);
    int forgotten = 0;
    for (Path pool : fixture.pools) {
      forgotten += AcceptedLoss.forget(pool, missing, true).size();
    }
    assertThat(forgotten).isEqualTo(1);
    assertThat(Drain.run(fixture.spec(), TierEvents.NONE, ProgressListener.NONE).complete())
        .isTrue();
    assertThat(away).isNotEmptyDirectory();
  }

  @Test
  void aPoolInUseIsNotDrained() throws IOException {
    assertThatThrownBy(() -> Drain.run(fixture.spec(), TierEvents.NONE, ProgressListener.NONE))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(fixture.pools.get(0).toString());
    fixture.close();
  }
}
