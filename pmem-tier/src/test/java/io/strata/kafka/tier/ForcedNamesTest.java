package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.crash.Point;
import io.strata.kafka.crash.SimFileSystem;
import io.strata.kafka.tier.durable.UnsyncedRenames;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * An append that is acknowledged with a force is in a file that a power failure leaves its name.
 */
final class ForcedNamesTest {

  private final SimFileSystem disk = new SimFileSystem();
  private final Path logs = disk.getPath("/logs");
  private final Path partition = logs.resolve("orders-0");
  private final Path other = logs.resolve("orders-0.0123456789abcdef0123456789abcdef-delete");
  private final List<Point> forced = new ArrayList<>();

  @BeforeEach
  void create() throws IOException {
    Files.createDirectory(logs);
    Files.createDirectory(partition);
    disk.points(
        point -> {
          if (point == Point.FILE_FORCE || point == Point.DIRECTORY_FORCE) {
            forced.add(point);
          }
          return true;
        });
  }

  @Test
  void aDirectoryIsForcedEachTimeAndItsNameOnce() throws IOException {
    UnsyncedRenames names = new UnsyncedRenames(true);
    names.forceNamesIn(partition);
    assertThat(forced).containsExactly(Point.DIRECTORY_FORCE, Point.DIRECTORY_FORCE);
    names.forceNamesIn(partition);
    assertThat(forced).hasSize(3);
  }

  /** The name of a file is in no other directory than its own. */
  @Test
  void aNameInADirectoryThatIsGoneIsNotForced() throws IOException {
    UnsyncedRenames names = new UnsyncedRenames(true);
    Files.move(partition, other);
    assertThatThrownBy(() -> names.forceNamesIn(partition)).isInstanceOf(NoSuchFileException.class);

    // Of a partition that is made again by that name nothing has been forced.
    Files.createDirectory(partition);
    forced.clear();
    names.forceNamesIn(partition);
    assertThat(forced).containsExactly(Point.DIRECTORY_FORCE, Point.DIRECTORY_FORCE);
  }

  /** Also where no pool gets ahead of renames: appends may be forced there all the same. */
  @Test
  void aPartitionThatIsMadeAgainHasItsNameForcedAgain() throws IOException {
    for (boolean needed : List.of(true, false)) {
      UnsyncedRenames names = new UnsyncedRenames(needed);
      names.forceNamesIn(partition);
      names.directoryRenamed(partition, other);
      Files.move(partition, other);
      names.directoryRenamed(partition, other);
      Files.createDirectory(partition);
      forced.clear();
      names.forceNamesIn(partition);
      assertThat(forced).containsExactly(Point.DIRECTORY_FORCE, Point.DIRECTORY_FORCE);
      Files.delete(other);
    }
  }

  /** Retention deletes many segments, and a busy disk takes long to force their directory. */
  @Test
  void aDeletionWaitsForNoRenameOfRetention() throws IOException {
    UnsyncedRenames names = noted();
    Path segment = partition.resolve("00000000000000000000.log");
    rename(names, segment.toString(), segment + ".deleted");
    names.settleReplacements(disk.getPath(segment + ".deleted"));
    assertThat(forced).isEmpty();
  }

  /** Otherwise a power failure leaves neither the segment nor what compaction has made of it. */
  @Test
  void aDeletionWaitsForWhatTakesTheSegmentsPlace() throws IOException {
    UnsyncedRenames names = noted();
    Path segment = partition.resolve("00000000000000000000.log");
    Path deleted = partition.resolve("00000000000000000000.log.deleted");
    rename(names, segment + ".cleaned", segment + ".swap");
    rename(names, segment.toString(), deleted.toString());
    rename(names, segment + ".swap", segment.toString());
    names.settleReplacements(deleted);
    assertThat(forced).containsExactly(Point.DIRECTORY_FORCE);
    names.settleReplacements(deleted);
    assertThat(forced).hasSize(1);
  }

  private UnsyncedRenames noted() throws IOException {
    UnsyncedRenames names = new UnsyncedRenames(true);
    for (Path directory : names.found(logs, List.of(partition))) {
      names.settleDirectory(directory);
    }
    forced.clear();
    return names;
  }

  private void rename(UnsyncedRenames names, String from, String to) throws IOException {
    Path source = disk.getPath(from);
    Path target = disk.getPath(to);
    if (!Files.exists(source)) {
      Files.createFile(source);
    }
    names.fileRenamed(source, target, false);
    Files.move(source, target);
    names.fileRenamed(source, target, false);
  }
}
