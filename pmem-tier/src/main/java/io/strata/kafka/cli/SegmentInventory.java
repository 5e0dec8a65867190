package io.strata.kafka.cli;

import io.strata.kafka.api.SegmentName;
import io.strata.kafka.pool.SlotFlag;
import io.strata.kafka.pool.SlotSnapshot;
import io.strata.kafka.segment.SegmentTag;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Finds what lives where: walks the log directories and reads the slots that the files' tags name.
 * Writes nothing, and works while the broker runs: what goes away while it looks is left out.
 *
 * <p>Not thread-safe.
 */
final class SegmentInventory implements AutoCloseable {
  private final PoolReaders pools;
  private final List<SegmentEntry> entries = new ArrayList<>();
  private final List<String> findings = new ArrayList<>();
  private final Set<String> topics = new TreeSet<>();

  /** Opens the pools; one that cannot be opened is a finding. */
  SegmentInventory(List<Path> poolFiles) throws IOException {
    this.pools = PoolReaders.open(poolFiles);
    pools.refusals().forEach((file, refusal) -> findings.add(String.valueOf(refusal.getMessage())));
  }

  /**
   * Adds the segments in a log directory. What cannot be looked at is a finding; the rest goes on.
   *
   * @param wanted which topics
   */
  void walk(Path logDirectory, Predicate<String> wanted) throws IOException {
    try (DirectoryStream<Path> partitions = Files.newDirectoryStream(logDirectory)) {
      for (Path partition : partitions) {
        walkPartition(partition, wanted);
      }
    } catch (DirectoryIteratorException e) {
      notLookedAt("log directory", logDirectory, e);
    } catch (NoSuchFileException | NotDirectoryException e) {
      findings.add(
          "log directory %s: found no directory, expected one: format it, or correct log.dirs"
              .formatted(logDirectory));
    } catch (FileSystemException e) {
      notLookedAt("log directory", logDirectory, e);
    }
  }

  private void walkPartition(Path partition, Predicate<String> wanted) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(partition, "*.log*")) {
      SegmentName.parse(nameOf(partition), "00000000000000000000.log")
          .ifPresent(any -> topics.add(any.id().topic()));
      for (Path file : files) {
        Optional<SegmentName> name = SegmentName.parse(nameOf(partition), nameOf(file));
        if (name.isPresent() && wanted.test(name.get().id().topic())) {
          readOrReport(name.get(), file);
        }
      }
    } catch (DirectoryIteratorException e) {
      notLookedAt("directory", partition, e);
    } catch (NotDirectoryException | NoSuchFileException e) {
      // A plain file among the partitions, or a partition deleted while we looked.
      return;
    } catch (FileSystemException e) {
      notLookedAt("directory", partition, e);
    }
  }

  private void readOrReport(SegmentName name, Path file) throws IOException {
    try {
      read(name, file).ifPresent(entries::add);
    } catch (FileSystemException e) {
      notLookedAt("log file", file, e);
    }
  }

  private void notLookedAt(String kind, Path file, Exception reason) {
    findings.add("%s %s was not looked at: %s".formatted(kind, file, Failures.messageOf(reason)));
  }

  void addFinding(String finding) {
    findings.add(finding);
  }

  private static String nameOf(Path file) {
    return String.valueOf(file.getFileName());
  }

  /** Returns the topics that have a partition's directory here, whether wanted or not. */
  Set<String> topics() {
    return Collections.unmodifiableSet(topics);
  }

  private Optional<SegmentEntry> read(SegmentName name, Path file) throws IOException {
    try {
      Optional<SegmentTag> tag = SegmentTag.read(file);
      if (tag.isEmpty()) {
        return Optional.of(inLogFile(name, file));
      }
      SegmentEntry entry = readTagged(name, file, tag.get());
      // A segment that left its pool while we looked has lost its tag, too.
      return Optional.of(
          entry.state() == SegmentEntry.State.UNREACHABLE && SegmentTag.read(file).isEmpty()
              ? inLogFile(name, file)
              : entry);
    } catch (NoSuchFileException e) {
      return Optional.empty(); // Deleted or renamed by the broker while we looked.
    }
  }

  private SegmentEntry readTagged(SegmentName name, Path file, SegmentTag tag) throws IOException {
    Optional<SlotSnapshot> slot = pools.slot(tag);
    if (slot.isPresent()) {
      return inPool(name, file, tag, slot.get());
    }
    // An eviction frees the slot; the tag follows in the background.
    return pools.hasMovedOn(tag) && !pools.hasLost(tag)
        ? inLogFile(name, file)
        : new SegmentEntry(name, file, SegmentEntry.State.UNREACHABLE, fileOf(tag), 0, 0, 0);
  }

  private SegmentEntry inPool(SegmentName name, Path file, SegmentTag tag, SlotSnapshot slot)
      throws IOException {
    long inPool = slot.committedLength();
    boolean spilled = slot.has(SlotFlag.SPILLED);
    return new SegmentEntry(
        name,
        file,
        spilled ? SegmentEntry.State.SPILLED : SegmentEntry.State.HOT,
        fileOf(tag),
        inPool - slot.extents().start(),
        slot.cleanLength() + (spilled ? Math.max(0, Files.size(file) - inPool) : 0),
        inPool - slot.cleanLength());
  }

  private Optional<Path> fileOf(SegmentTag tag) {
    return pools.find(tag.pool()).map(pool -> pool.info().path());
  }

  private static SegmentEntry inLogFile(SegmentName name, Path file) throws IOException {
    return new SegmentEntry(
        name, file, SegmentEntry.State.LOGDIRS, Optional.empty(), 0, Files.size(file), 0);
  }

  /** Returns the segments, by topic, partition and base offset. */
  List<SegmentEntry> entries() {
    Collections.sort(entries);
    return Collections.unmodifiableList(entries);
  }

  /** Returns what was not as it should be, or could not be looked at; empty if all is well. */
  List<String> findings() {
    List<String> all = new ArrayList<>(findings);
    List<SegmentEntry> unreachable =
        entries.stream().filter(e -> e.state() == SegmentEntry.State.UNREACHABLE).toList();
    if (!unreachable.isEmpty()) {
      all.add(
          """
          %d segments (%s%s): found tags that no slot of the configured pools answers, expected \
          one for each; name the pool that holds them in strata.pools or strata.tier.<name>.pools, \
          or restore it; if it is lost, or was repaired, see 'strata accept-loss --help'\
          """
              .formatted(
                  unreachable.size(),
                  unreachable.get(0).file(),
                  unreachable.size() > 1 ? " and others" : ""));
    }
    return all;
  }

  /** The pools that could be opened. */
  List<PoolReport> pools() throws IOException {
    return pools.reports();
  }

  @Override
  public void close() throws IOException {
    pools.close();
  }
}
