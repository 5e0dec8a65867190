package io.strata.kafka.cli;

import io.strata.kafka.api.SegmentName;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolException;
import io.strata.kafka.pool.PoolReader;
import io.strata.kafka.pool.SlotFlag;
import io.strata.kafka.pool.SlotSnapshot;
import io.strata.kafka.segment.SegmentTag;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Predicate;

/**
 * Finds what lives where: walks the log directories and reads the slots that the files' tags name.
 * Writes nothing, and works while the broker runs: what goes away while it looks is left out.
 *
 * <p>Not thread-safe.
 */
final class SegmentInventory implements AutoCloseable {
  private final Map<UUID, PoolReader> pools = new LinkedHashMap<>();
  private final Map<UUID, Path> poolFiles = new HashMap<>();
  private final List<SegmentEntry> entries = new ArrayList<>();
  private final List<String> findings = new ArrayList<>();

  /** Opens the pools; one that cannot be opened is a finding. */
  SegmentInventory(List<Path> poolFiles) throws IOException {
    for (Path file : poolFiles) {
      try {
        PoolReader pool = Pool.openReadOnly(file);
        pools.put(pool.info().id(), pool);
        this.poolFiles.put(pool.info().id(), file);
      } catch (PoolException e) {
        findings.add(String.valueOf(e.getMessage()));
      }
    }
  }

  /**
   * Adds the segments in a log directory.
   *
   * @param wanted which topics
   */
  void walk(Path logDirectory, Predicate<String> wanted) throws IOException {
    try (DirectoryStream<Path> partitions = Files.newDirectoryStream(logDirectory)) {
      for (Path partition : partitions) {
        walkPartition(partition, wanted);
      }
    } catch (NoSuchFileException | NotDirectoryException e) {
      findings.add(
          "log directory "
              + logDirectory
              + ": found no directory, expected one: format it, or correct log.dirs");
    }
  }

  private void walkPartition(Path partition, Predicate<String> wanted) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(partition, "*.log*")) {
      for (Path file : files) {
        Optional<SegmentName> name =
            SegmentName.parse(partition.getFileName().toString(), file.getFileName().toString());
        if (name.isPresent() && wanted.test(name.get().id().topic())) {
          read(name.get(), file).ifPresent(entries::add);
        }
      }
    } catch (NotDirectoryException | NoSuchFileException e) {
      // A plain file among the partitions, or a partition deleted while we looked.
      return;
    }
  }

  private Optional<SegmentEntry> read(SegmentName name, Path file) throws IOException {
    try {
      Optional<SegmentTag> tag = SegmentTag.read(file);
      if (tag.isEmpty()) {
        return Optional.of(atHome(name, file));
      }
      SegmentEntry entry = readTagged(name, file, tag.get());
      // A segment that left its pool while we looked has lost its tag, too.
      return Optional.of(
          entry.state() == SegmentEntry.State.UNREACHABLE && SegmentTag.read(file).isEmpty()
              ? atHome(name, file)
              : entry);
    } catch (NoSuchFileException e) {
      return Optional.empty(); // Deleted or renamed by the broker while we looked.
    }
  }

  private SegmentEntry readTagged(SegmentName name, Path file, SegmentTag tag) throws IOException {
    PoolReader pool = pools.get(tag.pool());
    if (pool == null) {
      return unreachable(name, file, Optional.empty());
    }
    Optional<Path> poolFile = Optional.ofNullable(poolFiles.get(tag.pool()));
    Optional<SlotSnapshot> slot;
    try {
      slot = pool.read(tag.slot(), tag.generation());
    } catch (PoolException e) {
      return unreachable(name, file, poolFile);
    }
    if (slot.isEmpty()) {
      return unreachable(name, file, poolFile);
    }
    long inPool = slot.get().committedLength();
    if (!slot.get().flags().contains(SlotFlag.SPILLED)) {
      return new SegmentEntry(name, file, SegmentEntry.State.HOT, poolFile, inPool, 0);
    }
    long atHome = Math.max(0, Files.size(file) - inPool);
    return new SegmentEntry(name, file, SegmentEntry.State.SPILLED, poolFile, inPool, atHome);
  }

  private static SegmentEntry atHome(SegmentName name, Path file) throws IOException {
    return new SegmentEntry(
        name, file, SegmentEntry.State.HOME, Optional.empty(), 0, Files.size(file));
  }

  private static SegmentEntry unreachable(SegmentName name, Path file, Optional<Path> pool) {
    return new SegmentEntry(name, file, SegmentEntry.State.UNREACHABLE, pool, 0, 0);
  }

  /** What was found, by topic, partition and base offset. */
  List<SegmentEntry> entries() {
    Collections.sort(entries);
    return Collections.unmodifiableList(entries);
  }

  /** What was not as it should be; empty if all is well. */
  List<String> findings() {
    List<String> all = new ArrayList<>(findings);
    List<SegmentEntry> unreachable =
        entries.stream().filter(e -> e.state() == SegmentEntry.State.UNREACHABLE).toList();
    if (!unreachable.isEmpty()) {
      all.add(
          unreachable.size()
              + " segments ("
              + unreachable.get(0).file()
              + (unreachable.size() > 1 ? " and others" : "")
              + "): found tags whose slot is in none of the pools, expected each in one of"
              + " strata.pools; name the pool that holds them, or restore it; if it is lost, see"
              + " strata set-aside");
    }
    return all;
  }

  /** The pools that could be opened. */
  List<PoolReport> pools() throws IOException {
    List<PoolReport> reports = new ArrayList<>();
    for (PoolReader pool : pools.values()) {
      reports.add(PoolReport.of(pool));
    }
    return reports;
  }

  @Override
  public void close() throws IOException {
    for (PoolReader pool : pools.values()) {
      pool.close();
    }
  }
}
