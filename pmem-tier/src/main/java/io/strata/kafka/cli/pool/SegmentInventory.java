package io.strata.kafka.cli.pool;

import static java.util.Comparator.comparing;

import io.strata.kafka.api.SegmentName;
import io.strata.kafka.cli.terminal.Failures;
import io.strata.kafka.pool.words.PoolException;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.pool.words.SlotSnapshot;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.directory.Directories;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Finds what lives where: walks the log directories and reads the slots that the files' tags name.
 * Writes nothing, and works while the broker runs: what goes away while it looks is left out.
 */
public final class SegmentInventory implements AutoCloseable {
  /** Longer than that of any usual file system. */
  private static final long BLOCK = 4096;

  private final PoolReaders pools;
  private final List<SegmentEntry> entries = new ArrayList<>();
  private final List<String> findings = new ArrayList<>();
  private final Set<String> topics = new TreeSet<>();

  /** Opens the pools; one that cannot be opened is a finding. */
  public SegmentInventory(List<Path> poolFiles) throws IOException {
    this.pools = PoolReaders.open(poolFiles);
    pools.refusals().forEach(refusal -> findings.add(String.valueOf(refusal.getMessage())));
  }

  /** Adds the segments in a log directory; a file that cannot be looked at is a finding. */
  void walk(Path logDirectory, Predicate<String> wanted) throws IOException {
    try {
      for (Path partition : Directories.list(logDirectory)) {
        walkPartition(partition, wanted);
      }
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
          read(name.get(), file);
        }
      }
    } catch (NotDirectoryException | NoSuchFileException e) {
      // A plain file among the partitions, or a partition deleted while we looked.
      return;
    } catch (FileSystemException | DirectoryIteratorException e) {
      notLookedAt("directory", partition, e);
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

  private void read(SegmentName name, Path file) throws IOException {
    try {
      Optional<SegmentTag> tag = SegmentTag.read(file);
      SegmentEntry entry =
          tag.isPresent() ? readTagged(name, file, tag.get()) : inLogFile(name, file);
      // A segment that left its pool while we looked has lost its tag too.
      boolean left =
          entry.state() == SegmentEntry.State.UNREACHABLE && SegmentTag.read(file).isEmpty();
      entries.add(left ? inLogFile(name, file) : entry);
    } catch (NoSuchFileException e) {
      return; // Deleted or renamed by the broker while we looked.
    } catch (FileSystemException e) {
      notLookedAt("log file", file, e);
    }
  }

  private SegmentEntry readTagged(SegmentName name, Path file, SegmentTag tag) throws IOException {
    SegmentEntry unreachable =
        new SegmentEntry(name, file, SegmentEntry.State.UNREACHABLE, fileOf(tag), 0, 0, 0, 0);
    try {
      Optional<SlotSnapshot> slot = pools.slot(tag);
      if (slot.isPresent()) {
        return inPool(name, file, tag, slot.get());
      }
      // An eviction frees the slot; the tag follows in the background.
      return pools.hasLost(tag) || pools.isOlder(tag) ? unreachable : inLogFile(name, file);
    } catch (PoolException damaged) {
      return unreachable; // For 'strata pool check' to describe.
    }
  }

  private SegmentEntry inPool(SegmentName name, Path file, SegmentTag tag, SlotSnapshot slot)
      throws IOException {
    long end = slot.committedLength();
    boolean spilled = slot.has(SlotFlag.SPILLED);
    return new SegmentEntry(
        name,
        file,
        spilled ? SegmentEntry.State.SPILLED : SegmentEntry.State.HOT,
        fileOf(tag),
        slot.extents().start(),
        slot.cleanLength(),
        end,
        spilled ? Math.max(end, Files.size(file)) : end);
  }

  private Optional<Path> fileOf(SegmentTag tag) {
    return pools.find(tag.pool()).map(pool -> pool.info().path());
  }

  private static SegmentEntry inLogFile(SegmentName name, Path file) throws IOException {
    long size = Files.size(file);
    return new SegmentEntry(
        name, file, SegmentEntry.State.LOGDIRS, Optional.empty(), size, size, size, size);
  }

  /** Looks for the space that a drain of these log directories needs, by file system. */
  public List<DrainSpace> drainSpace(List<Path> logDirectories) throws IOException {
    Map<String, FileStore> stores = new LinkedHashMap<>();
    Map<String, List<Path>> directories = new HashMap<>();
    for (Path directory : logDirectories) {
      if (Files.isDirectory(directory)) {
        walk(directory, any -> true);
        FileStore store = Files.getFileStore(directory);
        String device = device(directory, store);
        stores.putIfAbsent(device, store);
        directories.computeIfAbsent(device, key -> new ArrayList<>()).add(directory);
      }
    }
    Map<String, Long> needed = new HashMap<>();
    for (SegmentEntry entry : entries()) {
      long bytes = entry.neededInLogFile();
      if (bytes > 0) {
        // A partition may be a symbolic link to another file system.
        FileStore store = Files.getFileStore(entry.file());
        String device = device(entry.file(), store);
        stores.putIfAbsent(device, store);
        needed.merge(device, bytes, Long::sum);
      }
    }
    List<DrainSpace> all = new ArrayList<>();
    for (Map.Entry<String, FileStore> each : stores.entrySet()) {
      all.add(
          new DrainSpace(
              each.getValue().toString(),
              directories.getOrDefault(each.getKey(), List.of()),
              needed.getOrDefault(each.getKey(), 0L),
              each.getValue().getUsableSpace()));
    }
    return all;
  }

  /**
   * One file system may be mounted in several places, each of which is a FileStore of its own; the
   * subvolumes of Btrfs have numbers of their own, too.
   */
  private static String device(Path file, FileStore store) throws IOException {
    return store.type().equals("btrfs")
        ? store.name()
        : String.valueOf(Files.getAttribute(file, "unix:dev"));
  }

  /**
   * The space of one file system.
   *
   * @param needed bytes that a drain writes there
   * @param free bytes that may be written
   */
  public record DrainSpace(String store, List<Path> directories, long needed, long free) {
    public boolean isEnough() {
      return free >= needed;
    }
  }

  /** Returns the segments, by topic, partition and base offset. */
  public List<SegmentEntry> entries() {
    entries.sort(
        comparing((SegmentEntry entry) -> entry.name().id()).thenComparing(SegmentEntry::file));
    return Collections.unmodifiableList(entries);
  }

  /** Returns what was not as it should be, or could not be looked at; empty if all is well. */
  public List<String> findings() {
    List<String> all = new ArrayList<>(findings);
    List<SegmentEntry> unreachable =
        entries.stream().filter(e -> e.state() == SegmentEntry.State.UNREACHABLE).toList();
    if (!unreachable.isEmpty()) {
      all.add(
          """
          %d segments (%s%s): found tags that no slot of the configured pools answers, expected \
          one for each; name the pool that holds them in strata.pools or strata.tier.<name>.pools, \
          or restore it, the current one if it is an older copy; if it is lost, or was repaired, \
          see 'strata accept-loss --help'\
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

  /**
   * One segment's file in a log directory, and where its bytes are.
   *
   * @param name what its file's and directory's names say
   * @param pool the pool that holds its head, if one does
   * @param start where the pool's bytes begin; what is before is in the log file
   * @param clean up to where the log file has them too
   * @param end where the pool's bytes end
   * @param size of the segment; what is behind {@code end} is in the log file
   */
  record SegmentEntry(
      SegmentName name,
      Path file,
      State state,
      Optional<Path> pool,
      long start,
      long clean,
      long end,
      long size) {

    enum State {
      /** All in the pool. */
      HOT,
      /** The head in the pool, the tail in the log file. */
      SPILLED,
      /** All in its log file. */
      LOGDIRS,
      /** Tagged, and its pool or its slot cannot be read: how much is where is not known. */
      UNREACHABLE;

      String label() {
        return name().toLowerCase(Locale.ROOT);
      }
    }

    long bytesInPool() {
      return end - start;
    }

    /** The bytes in the log file that count; some of them are in the pool too. */
    long bytesInLogFile() {
      return clean + size - end;
    }

    /** The bytes in the pool that the log file does not have yet. */
    long bytesOnlyInPool() {
      return end - clean;
    }

    /** The bytes that a drain writes to the log file's file system, in whole blocks. */
    long neededInLogFile() throws IOException {
      long bytes = bytesOnlyInPool();
      if (bytes > 0 && state == State.HOT) {
        try {
          // A start truncates the bytes that a copy has left behind the clean ones.
          bytes -= Math.max(0, Math.min(Files.size(file), end) - clean);
        } catch (NoSuchFileException deleted) {
          return 0;
        }
      }
      return (bytes + BLOCK - 1) / BLOCK * BLOCK;
    }

    /** Returns whether the log file of a segment in a pool has all of it too. */
    boolean isClean() {
      return pool.isPresent() && bytesInPool() > 0 && bytesOnlyInPool() == 0;
    }

    /** The partition, and what its directory holds if it is not the served replica. */
    String partition() {
      String partition = name.id().topic() + "-" + name.id().partition();
      return name.replica() == SegmentName.Replica.CURRENT
          ? partition
          : partition + " (" + name.replica().name().toLowerCase(Locale.ROOT) + ")";
    }

    /** The state, and the file's stage if it is not an ordinary segment. */
    String describeState() {
      return name.stage() == SegmentName.Stage.LIVE
          ? state.label()
          : state.label() + " (" + name.stage().name().toLowerCase(Locale.ROOT) + ")";
    }
  }
}
