package io.strata.kafka.migration.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.migration.remote.store.SegmentStore;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.disk.StoreOptions;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.StoreStage;
import io.strata.kafka.migration.remote.store.layout.StoreIdentity;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When a directory is due. */
class ScrubRoundsTest {

  private static final Duration WEEK = Duration.ofDays(7);

  @TempDir private Path directory;

  /** A year, in which a round ran. */
  @Test
  void aClockThatWasAheadPutsOffNoScrub() throws Exception {
    Instant start = Instant.now();
    AtomicReference<Instant> now = new AtomicReference<>(start);
    InstantSource clock = now::get;
    SegmentStore store =
        new SegmentStore(
            new StoreOptions(
                List.of(
                    new StoreOptions.LevelOptions(
                        "ssd",
                        List.of(new StoreOptions.Directory(directory, OptionalLong.of(1 << 26))))),
                1,
                "cluster",
                List.of(),
                clock,
                StoreStage.Hook.NONE,
                StoreIdentity::read,
                DirectoryAccess.Threads.NONE),
            Optional.empty());
    ScrubRounds rounds = new ScrubRounds(store, clock, System::nanoTime);
    assertThat(rounds.due(WEEK)).isEmpty();
    now.set(start.plus(Duration.ofDays(365)));
    List<StoreDirectory> due = rounds.due(WEEK);
    assertThat(due).hasSize(1);
    rounds.round(due, Duration.ofHours(1), WEEK);

    now.set(start);
    assertThat(rounds.due(WEEK)).isEmpty();
    now.set(start.plus(Duration.ofDays(8)));
    assertThat(rounds.due(WEEK)).hasSize(1);
  }
}
