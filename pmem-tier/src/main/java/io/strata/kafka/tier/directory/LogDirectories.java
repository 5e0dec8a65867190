package io.strata.kafka.tier.directory;

import io.strata.kafka.api.SegmentName;
import io.strata.kafka.config.key.MetaProperties;
import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.tier.spec.FailureText;
import io.strata.kafka.tier.spec.TierEvents;
import io.strata.kafka.tier.spec.TierSpec;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The broker's log directories that are there, and which new files below them are segments to be
 * placed.
 *
 * <p>Thread safety: all methods may be called by any thread, {@link #skip} only before others are.
 */
public final class LogDirectories {

  private final Map<Path, LogDirectory> byPath = new LinkedHashMap<>();
  private final TierEvents events;

  /** True if any directory is one that Kafka has formatted, and true if any is not. */
  private boolean someFormatted;

  private boolean someUnformatted;

  /** Why each was skipped, by its path. */
  private final Map<Path, String> skipped = Collections.synchronizedMap(new LinkedHashMap<>());

  private final Optional<Pattern> forcedPlacement;
  private final Map<UUID, Path> pools;
  private final ConcurrentMap<Path, LogDirectory> forced = new ConcurrentHashMap<>();

  private LogDirectories(
      Optional<Pattern> forcedPlacement, Map<UUID, Path> pools, TierEvents events) {
    this.forcedPlacement = forcedPlacement;
    this.pools = pools;
    this.events = events;
  }

  /**
   * Where a new segment belongs: what its slot records. Immutable.
   *
   * @param directoryId the log directory's identity
   * @param relativePath the file's path relative to its log directory
   * @param file the file itself, by its real path
   */
  public record SegmentPlace(UUID directoryId, String relativePath, Path file) {}

  /**
   * Claims the log directories that exist.
   *
   * @throws IOException if a directory's file system cannot have the attributes, if a newer Strata
   *     has marked a directory, or if two directories claim to be the same
   */
  public static LogDirectories open(
      TierSpec spec, Map<UUID, Path> pools, TierEvents events, TierParts.PoolOpening opening)
      throws IOException {
    LogDirectories opened = new LogDirectories(spec.forcedPlacement(), pools, events);
    for (Path configured : spec.logDirectories()) {
      opened.claim(configured, opening);
    }
    return opened;
  }

  private void claim(Path configured, TierParts.PoolOpening opening) throws IOException {
    if (!Files.isDirectory(configured)) {
      skip(configured, "it is not a directory, or cannot be reached");
      return;
    }
    Marker.refuseNewer(configured);
    LogDirectory directory;
    boolean formatted;
    try {
      LogDirectory.requireInodes(configured);
      directory = opening.claim(configured);
      directory.requireRoom(pools);
      formatted = FileStatus.of(directory.path().resolve(MetaProperties.FILE_NAME)).isPresent();
    } catch (LogDirectory.AttributesException e) {
      throw e;
    } catch (IOException e) {
      // A failing disk: Kafka takes this directory offline and runs on with the others.
      skip(configured, "it cannot be used: " + FailureText.of(e));
      return;
    }
    Optional<LogDirectory> same = byId(directory.id());
    if (same.isPresent() && !same.get().path().equals(directory.path())) {
      throw new FileSystemException(
          directory.path().toString(),
          same.get().path().toString(),
          """
          two log directories have the identity %s, as a copy made with its extended attributes \
          has: remove the copy from log.dirs\
          """
              .formatted(directory.id()));
    }
    byPath.put(directory.path(), directory);
    someFormatted |= formatted;
    someUnformatted |= !formatted;
  }

  /**
   * Marks the directories, so that a broker without Strata refuses them. After all refusals, and
   * before the first append.
   *
   * @throws LogDirectoryFailure for the first one that cannot be marked: nothing more may go into a
   *     pool there
   */
  public void mark() throws LogDirectoryFailure {
    for (LogDirectory directory : byPath.values()) {
      try {
        Marker.mark(directory.path());
      } catch (IOException e) {
        throw new LogDirectoryFailure(
            directory, directory.path().resolve(MetaProperties.FILE_NAME), e);
      }
    }
  }

  /**
   * Records in each directory where these pools are, and that they are used together now. After the
   * recovery: a start that is refused, for another file is where the pool was, must not make it
   * forget which pool that was.
   */
  public void recordPools(Collection<UUID> inUse, Moments moments) throws IOException {
    Map<UUID, Path> recorded = new LinkedHashMap<>(pools);
    recorded.keySet().retainAll(inUse);
    for (LogDirectory directory : List.copyOf(byPath.values())) {
      try {
        recordPools(directory, recorded);
        moments.advance(directory);
      } catch (LogDirectoryFailure e) {
        skip(directory, "it cannot be used: " + FailureText.of(e));
      }
    }
  }

  private static void recordPools(LogDirectory directory, Map<UUID, Path> recorded)
      throws LogDirectoryFailure {
    try {
      directory.recordPools(recorded);
    } catch (IOException e) {
      throw new LogDirectoryFailure(directory, directory.path(), e);
    }
  }

  /** Skips a directory after all; called while the tier is being opened. */
  public void skip(LogDirectory directory, String reason) {
    byPath.remove(directory.path());
    skip(directory.path(), reason);
  }

  private void skip(Path directory, String reason) {
    skipped.put(directory, directory + ": " + reason);
    events.logDirectorySkipped(directory, reason);
  }

  /**
   * Returns whether a log file that is missing may be in a directory that cannot be looked at: one
   * that was skipped, or an empty mount point, which Kafka has not formatted as it has the others.
   */
  public boolean someAreAway() {
    return !skipped.isEmpty() || (someFormatted && someUnformatted);
  }

  /** Returns how many of the configured directories are not there. */
  public int skipped() {
    return skipped.size();
  }

  /** The configured directories that are not there, each with the reason. */
  public List<String> skippedReasons() {
    return List.copyOf(skipped.values());
  }

  /** Returns whether a file is in a log directory that was skipped, and not behind a link there. */
  public boolean isSkipped(Path file) {
    return skipped.keySet().stream().anyMatch(file::startsWith);
  }

  /** Returns whether files elsewhere are placed, as Kafka's own tests have them. */
  public boolean forcedPlacement() {
    return forcedPlacement.isPresent();
  }

  /** For messages: the directories by identity and path. */
  public String describe() {
    return byPath.values().stream()
        .map(directory -> directory.path() + " is " + directory.id())
        .collect(Collectors.joining(", "));
  }

  public Collection<LogDirectory> all() {
    return byPath.values();
  }

  public Optional<LogDirectory> byId(UUID id) {
    return byPath.values().stream().filter(directory -> directory.id().equals(id)).findFirst();
  }

  /** Returns what a slot records of a segment whose log file is here; empty elsewhere. */
  public Optional<SegmentPlace> placeOf(Path file) {
    for (LogDirectory directory : byPath.values()) {
      if (file.startsWith(directory.path())) {
        return Optional.of(placeIn(directory, file));
      }
    }
    Path parent = file.getParent();
    LogDirectory directory = parent == null ? null : forced.get(parent);
    return directory == null
        ? Optional.empty()
        : Optional.of(new SegmentPlace(directory.id(), String.valueOf(file.getFileName()), file));
  }

  /** Returns where a new file is to be placed; empty when it is none of the pools' business. */
  public Optional<SegmentPlace> place(Path file, Predicate<SegmentName> placement)
      throws IOException {
    Path partition = file.getParent();
    Path name = file.getFileName();
    if (partition == null || name == null) {
      return Optional.empty();
    }
    if (forcedPlacement.isPresent() && forcedPlacement.get().matcher(file.toString()).matches()) {
      LogDirectory directory = claimForced(partition);
      return Optional.of(new SegmentPlace(directory.id(), name.toString(), file));
    }
    Path parent = partition.getParent();
    Path partitionName = partition.getFileName();
    LogDirectory directory = parent == null ? null : byPath.get(parent);
    if (directory == null || partitionName == null) {
      return Optional.empty();
    }
    return SegmentName.parse(partitionName.toString(), name.toString())
        .filter(placement)
        .map(segment -> placeIn(directory, file));
  }

  private static SegmentPlace placeIn(LogDirectory directory, Path file) {
    return new SegmentPlace(directory.id(), directory.path().relativize(file).toString(), file);
  }

  private LogDirectory claimForced(Path directory) throws IOException {
    LogDirectory known = forced.get(directory);
    if (known != null) {
      return known;
    }
    LogDirectory claimed = LogDirectory.claim(directory);
    claimed.recordPools(pools);
    forced.put(directory, claimed);
    return claimed;
  }
}
