package io.strata.kafka.tier.directory;

import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolReader;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.words.PoolMoment;
import io.strata.kafka.pool.words.PoolMoments;
import io.strata.kafka.pool.words.SlotSnapshot;
import io.strata.kafka.pool.words.SlotState;
import io.strata.kafka.tier.spec.FailureText;
import io.strata.kafka.tier.spec.TierSpec;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * Sees to it that a pool and a log directory are used together only as they were left together. A
 * volume that was restored from a snapshot, or a copy of a pool's file, is of another moment.
 *
 * <p>The rule: each pair of a pool and a log directory has a moment, and both have it. It moves on
 * at each start, at each orderly stop, and every minute between. Where the two differ and the pair
 * shares a segment, the start is refused. A log directory that is away keeps its moment, and so
 * does what the pool has of it; the pair is of the same moment when the directory is back.
 *
 * <p>Thread safety: {@link #advance} for one log directory is called by one thread at a time.
 */
public final class Moments {

  /** How often the moments move on while a broker runs. */
  public static final long INTERVAL_MILLIS = 60_000;

  private final PoolSet pools;
  private final LongSupplier clock;

  /** The moments that each log directory has been given last, and its inode. */
  private final Map<UUID, Given> given = new ConcurrentHashMap<>();

  private record Given(String inode, Map<UUID, Long> moments) {}

  public Moments(PoolSet pools, LongSupplier clock) {
    this.pools = pools;
    this.clock = clock;
  }

  /**
   * Moves the moment of a log directory and all pools on. Each pool says first which moment comes
   * next, and last that the log directory has it: a crash between leaves two that are permitted.
   *
   * @throws LogDirectoryFailure if the log directory fails; what it has is permitted
   * @throws IOException if a pool fails
   */
  public void advance(LogDirectory directory) throws IOException {
    List<Pool> used = pools.all();
    for (Pool pool : used) {
      pool.moments().makeDurable(directory.id());
    }
    if (isPending(used, directory)) {
      // An earlier session had no end. The moments that it has announced must stay permitted until
      // then.
      give(used, directory);
    }
    for (Pool pool : used) {
      long unused = pool.moments().begin(directory.id(), clock.getAsLong());
    }
    give(used, directory);
  }

  /**
   * Refuses another directory that is in a log directory's place by now, such as an older copy
   * whose file system was mounted over it: it must not get the moment of this one.
   */
  public void refuseReplaced(LogDirectory directory) throws IOException {
    Given last = given.get(directory.id());
    if (last != null && !last.equals(new Given(directory.inode(), directory.recordedMoments()))) {
      throw FailureText.at(
          directory.path(),
          "found another directory in its place, expected the one that this broker has opened: stop"
              + " the broker, and mount the file system that it began with");
    }
  }

  /** Returns what to do where the pool is older than a log directory, as a sentence's end. */
  public static String bringBack(UUID pool) {
    return """
    bring the current pool file back; if it is lost, run 'strata accept-loss --pool %s', move this \
    file away and create a new pool, and Kafka replicates what is missing\
    """
        .formatted(pool);
  }

  private static boolean isPending(List<Pool> used, LogDirectory directory) throws IOException {
    for (Pool pool : used) {
      if (pool.moments().of(directory.id()).filter(PoolMoment::isPending).isPresent()) {
        return true;
      }
    }
    return false;
  }

  private void give(List<Pool> used, LogDirectory directory) throws IOException {
    Map<UUID, Long> moments = new LinkedHashMap<>();
    for (Pool pool : used) {
      Optional<PoolMoment> moment = pool.moments().of(directory.id());
      moment.ifPresent(known -> moments.put(pool.info().id(), known.next()));
    }
    try {
      directory.recordMoments(moments);
      given.put(directory.id(), new Given(directory.inode(), moments));
    } catch (IOException e) {
      throw new LogDirectoryFailure(directory, directory.path(), e);
    }
    for (Pool pool : used) {
      if (moments.containsKey(pool.info().id())) {
        pool.moments().settle(directory.id());
      }
    }
  }

  /**
   * Takes a log directory's moment, and all else that Strata keeps on it. The removal of its log
   * files' tags may not be durable yet: a pool must permit that there is no moment before.
   */
  public void end(LogDirectory directory) throws IOException {
    for (Pool pool : pools.all()) {
      pool.moments().beginEnd(directory.id());
    }
    directory.release();
  }

  /** Refuses pools and log directories of different moments; changes nothing. */
  public void refuseOthers(Collection<LogDirectory> directories) throws IOException {
    List<Side> sides = new ArrayList<>();
    for (Pool pool : pools.all()) {
      sides.add(
          new Side(
              pool.info().path(), pool.info().id(), pool.moments(), () -> directoriesOf(pool)));
    }
    List<Difference> found = among(sides, directories);
    if (!found.isEmpty()) {
      throw found.get(0).refusal();
    }
  }

  /**
   * As {@link #refuseOthers}, before a pool is opened for writing: even that changes something. A
   * file that cannot be looked at is refused, or skipped, when it is opened.
   */
  public static void refuseOthers(TierSpec spec) throws IOException {
    List<Difference> found = among(spec.pools(), spec.logDirectories());
    if (!found.isEmpty()) {
      throw found.get(0).refusal();
    }
  }

  /**
   * Finds the pairs of different moments that share a segment. Skips files that cannot be looked
   * at.
   *
   * @param pools the pools' files
   */
  public static List<Difference> among(Collection<Path> pools, Collection<Path> logDirectories)
      throws IOException {
    // A broker that runs may be moving on: a pair differs if it does so twice.
    List<Difference> found = lookAmong(pools, logDirectories);
    return found.isEmpty() ? found : lookAmong(pools, logDirectories);
  }

  private static List<Difference> lookAmong(Collection<Path> pools, Collection<Path> logDirectories)
      throws IOException {
    List<PoolReader> readers = new ArrayList<>();
    try {
      List<Side> sides = new ArrayList<>();
      for (Path file : pools) {
        Optional<PoolReader> opened = open(file);
        if (opened.isPresent()) {
          PoolReader pool = opened.get();
          readers.add(pool);
          sides.add(new Side(file, pool.info().id(), pool.moments(), () -> directoriesOf(pool)));
        }
      }
      List<Difference> found = new ArrayList<>();
      for (Path directory : logDirectories) {
        found.addAll(amongIfReadable(sides, directory));
      }
      return found;
    } finally {
      for (PoolReader pool : readers) {
        pool.close();
      }
    }
  }

  private static Optional<PoolReader> open(Path file) {
    try {
      return Optional.of(Pool.openReadOnly(file));
    } catch (IOException | UnsupportedOperationException e) {
      return Optional.empty();
    }
  }

  private static List<Difference> amongIfReadable(List<Side> sides, Path configured) {
    try {
      if (!Files.isDirectory(configured)) {
        return List.of();
      }
      Optional<LogDirectory> known = LogDirectory.find(configured.toRealPath());
      return known.isPresent() ? among(sides, List.of(known.get())) : List.of();
    } catch (IOException e) {
      return List.of(); // Recovery says what is wrong with it, or with a pool.
    }
  }

  private static List<Difference> among(List<Side> sides, Collection<LogDirectory> directories)
      throws IOException {
    List<Difference> differences = new ArrayList<>();
    for (LogDirectory directory : directories) {
      for (Side pool : sides) {
        Optional<Difference> found = difference(pool, directory);
        if (found.isPresent() && pool.sharesWith(directory)) {
          differences.add(found.get());
        }
      }
    }
    return differences;
  }

  private static Optional<Difference> difference(Side pool, LogDirectory directory)
      throws IOException {
    long found = directory.recordedMoments().getOrDefault(pool.id(), 0L);
    Optional<PoolMoment> moment = pool.moments().of(directory.id());
    boolean same =
        moment.isPresent() ? moment.get().permits(found) : found == 0 || pool.moments().isDamaged();
    return same
        ? Optional.empty()
        : Optional.of(
            new Difference(
                pool.file(),
                pool.id(),
                directory.path(),
                moment.map(each -> Math.max(each.last(), each.next())).orElse(0L),
                found));
  }

  /** Leaves out segments that are being deleted: a log file that is there has its tag. */
  private static Set<UUID> directoriesOf(Pool pool) {
    Set<UUID> named = new HashSet<>();
    for (Slot slot : pool.slots()) {
      if (slot.state() == SlotState.LIVE) {
        named.add(slot.directoryId());
      }
    }
    return named;
  }

  private static Set<UUID> directoriesOf(PoolReader pool) throws IOException {
    Set<UUID> named = new HashSet<>();
    for (SlotSnapshot slot : pool.readAll()) {
      if (slot.state() == SlotState.LIVE) {
        named.add(slot.directoryId());
      }
    }
    return named;
  }

  /** Finds the log directories that a pool's segments are of. */
  @FunctionalInterface
  private interface Named {
    Set<UUID> directories() throws IOException;
  }

  /** A pool, open for writing or for reading. */
  private record Side(Path file, UUID id, PoolMoments moments, Named named) {

    /** Returns whether a slot names the log directory, or a log file the pool. */
    boolean sharesWith(LogDirectory directory) throws IOException {
      if (named.directories().contains(directory.id())) {
        return true;
      }
      for (TaggedLogFile logFile : TaggedLogFile.in(directory.path())) {
        if (logFile.tag().pool().equals(id)) {
          return true;
        }
      }
      return false;
    }
  }

  /**
   * A pool and a log directory of different moments. Immutable.
   *
   * @param poolHas the moment that the pool has; 0 if it does not know the log directory
   * @param directoryHas the moment that the log directory has; 0 if it does not know the pool
   */
  public record Difference(
      Path pool, UUID poolId, Path directory, long poolHas, long directoryHas) {

    /** Returns whether the pool is the older one. */
    public boolean isPoolOlder() {
      return poolHas < directoryHas;
    }

    /** Returns what was found, as a sentence. */
    public String description() {
      return """
      %s: the log directory was last used with this pool at %s, and the pool with this log \
      directory at %s\
      """
          .formatted(
              isPoolOlder()
                  ? "the pool file is older than the log directory"
                  : "the log directory is older than the pool file",
              time(directoryHas),
              time(poolHas));
    }

    private static String time(long moment) {
      return moment == 0 ? "no time" : Instant.ofEpochMilli(moment).toString();
    }

    /** Returns what to do, as a sentence's end. */
    public String remedy() {
      return isPoolOlder()
          ? bringBack(poolId)
          : """
          bring the current log directory back; if it is lost, run 'strata accept-loss \
          --log-directory %s', which gives up what the pools have of it, and Kafka replicates \
          what is missing\
          """
              .formatted(directory);
    }

    FileSystemException refusal() {
      return new FileSystemException(
          directory.toString(),
          pool.toString(),
          "%s; one of the two is a copy from a backup or a snapshot: %s"
              .formatted(description(), remedy()));
    }
  }
}
