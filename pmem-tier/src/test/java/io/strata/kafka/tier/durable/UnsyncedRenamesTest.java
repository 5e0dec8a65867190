package io.strata.kafka.tier.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.tier.directory.Directories;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UnsyncedRenamesTest {

  @TempDir private Path logs;

  /** A broker that lives for a year may see a million topics come and go. */
  @Test
  void deletedPartitionsAreForgotten() throws IOException {
    UnsyncedRenames unsynced = new UnsyncedRenames(true);
    Path kept = Files.createDirectory(logs.resolve("kept-0"));
    Path gone = Files.createDirectory(logs.resolve("t-7.%032x-delete".formatted(7)));
    unsynced.found(logs, List.of(kept, gone));
    int before = unsynced.size() - 1;
    Files.delete(gone);
    unsynced.settleDirectory(logs);
    assertThat(unsynced.size()).as("one that was there at the start").isEqualTo(before);
    for (int i = 0; i < 100; i++) {
      Path partition = Files.createDirectory(logs.resolve("t-" + i));
      unsynced.forceNamesIn(partition);
      Path deleted = logs.resolve("t-%d.%032x-delete".formatted(i, i));
      unsynced.directoryRenamed(partition, deleted);
      Files.move(partition, deleted);
      unsynced.directoryRenamed(partition, deleted);
      unsynced.settleReplacements(deleted.resolve("00000000000000000000.log"));
      unsynced.force(deleted);
      unsynced.settleDirectory(logs);
      assertThat(unsynced.size()).as("one is being deleted").isEqualTo(before + 1);
      Files.delete(deleted);
    }
    unsynced.settleDirectory(logs);
    assertThat(unsynced.size()).isEqualTo(before);
  }

  /** The kernel says once that a force has failed; the next one would be believed. */
  @Test
  void aForceThatFailedBeforeTheDirectoriesWereNotedFailsWhatComesNext() throws IOException {
    UnsyncedRenames unsynced = new UnsyncedRenames(true);
    Path partition = Files.createDirectory(logs.resolve("t-0"));
    unsynced.failed(partition, new IOException("a disk that forgets"));

    assertThat(unsynced.found(logs, List.of(partition))).contains(partition);

    assertThatThrownBy(() -> unsynced.forceNamesIn(partition))
        .isInstanceOf(Directories.ForceFailedException.class);
    assertThatThrownBy(() -> unsynced.settle(partition.resolve("00000000000000000000.log")))
        .isInstanceOf(Directories.ForceFailedException.class);
  }
}
