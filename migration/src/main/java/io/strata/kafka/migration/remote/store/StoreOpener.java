package io.strata.kafka.migration.remote.store;

import static java.util.Objects.requireNonNull;

import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.migration.remote.store.SegmentStore.StoreRefusedException;
import io.strata.kafka.migration.remote.store.disk.Deadlines.TimeLimitException;
import io.strata.kafka.migration.remote.store.disk.Disk;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.disk.StoreListing;
import io.strata.kafka.migration.remote.store.disk.StoreMemory;
import io.strata.kafka.migration.remote.store.disk.StoreOptions;
import io.strata.kafka.migration.remote.store.layout.JsonFile.CorruptManifestException;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreIdentity;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Opens the store's directories for a broker: reads their identities, gives one to a directory that
 * is used for the first time, refuses what is another cluster's or another store's. Used by one
 * thread; other brokers may do the same at the same time.
 */
final class StoreOpener {

  private static final List<String> MADE =
      List.of(
          StoreNames.BROKERS,
          StoreNames.TOPICS,
          StoreNames.STAGING,
          StoreNames.TRASH,
          StoreNames.LOCKS);

  /** After so long a directory counts as one that hangs. No key changes that. */
  private static final Duration ANSWER = Duration.ofSeconds(10);

  private final StoreOptions options;
  private final StoreMemory memory;
  private final Map<Path, StoreIdentity> identities = new LinkedHashMap<>();
  private final List<String> warnings = new ArrayList<>();
  private final List<String> firstUses = new ArrayList<>();

  /** Directories of the store that have no identity now: how that is known. */
  private final Map<Path, String> missing = new LinkedHashMap<>();

  /** The directories that answer: one that is only remembered may hang. */
  private final Set<Path> answering = new LinkedHashSet<>();

  private StoreOpener(StoreOptions options, StoreMemory memory) {
    this.options = options;
    this.memory = memory;
  }

  /**
   * The store as it was opened.
   *
   * @param firstUses a sentence for each directory that has become one of the store
   */
  record Opened(List<StoreDirectory> directories, List<String> warnings, List<String> firstUses) {}

  /**
   * Opens the directories.
   *
   * @throws StoreRefusedException if one is not what it should be; nothing was changed in it
   * @throws IOException if the broker's own log directories cannot be read or written
   */
  static Opened open(StoreOptions options) throws IOException {
    StoreMemory memory;
    Optional<CorruptManifestException> damage = Optional.empty();
    try {
      memory = StoreMemory.read(options.memory());
    } catch (CorruptManifestException e) {
      if (CorruptManifestException.isOfOtherVersion(e)) {
        throw e;
      }
      memory = new StoreMemory(options.memory());
      damage = Optional.of(e);
    }
    return new StoreOpener(options, memory).open(damage);
  }

  /**
   * Opens the store.
   *
   * @param damage of what was remembered: without it all directories have to say what they are
   */
  private Opened open(Optional<CorruptManifestException> damage) throws IOException {
    readIdentities();
    if (damage.isPresent()) {
      String found = String.valueOf(damage.get().getMessage());
      if (!identities.keySet().containsAll(paths())) {
        throw new StoreRefusedException(
            """
            %s. Only by that file an empty mount point is known from a new directory: mount all \
            directories of the store, or, if some of them are new, delete the file\
            """
                .formatted(found));
      }
      warnings.add(found + ": it is written anew");
    }
    checkDistinct();
    learnFromOthers();
    missing.forEach((path, how) -> warnings.add(missing(path, how)));
    warnOfForgotten();
    format();
    checkDistinct();
    remember();
    List<StoreDirectory> opened = new ArrayList<>();
    for (int i = 0; i < options.levels().size(); i++) {
      StoreOptions.LevelOptions level = options.levels().get(i);
      for (StoreOptions.Directory directory : level.directories()) {
        StoreIdentity identity = identities.get(directory.path());
        if (identity != null) {
          opened.add(new StoreDirectory(directory, i, level.name(), identity, options.threads()));
        }
      }
    }
    for (Path directory : answering) {
      try {
        // The process that gave it its identity may have been killed before that was durable.
        Disk.forceDirectory(directory);
      } catch (IOException e) {
        // Its next use reports that.
      }
    }
    return new Opened(List.copyOf(opened), List.copyOf(warnings), List.copyOf(firstUses));
  }

  /** Where nothing new is to be remembered, a full log directory is no reason not to start. */
  private void remember() throws IOException {
    try {
      memory.remember(identities);
    } catch (IOException e) {
      if (!memory.knows(identities)) {
        throw e;
      }
      warnings.add(
          "which directories the remote store has cannot be written again, and is as it was: " + e);
    }
  }

  /** Returns why nothing is made in a directory that has no identity. */
  private static String missing(Path path, String how) {
    return """
    %s: found no %s, and %s: is its file system mounted? Nothing is written there until it is \
    back. If the directory is really lost, take it out of rsm.config.levels; a new disk gets \
    another path, or this one after all brokers have run without it\
    """
        .formatted(path, StoreNames.IDENTITY, how);
  }

  /**
   * A directory that is not configured any more was taken out, or its path was changed, and the new
   * one is a mount point without its file system.
   */
  private void warnOfForgotten() {
    memory
        .all()
        .forEach(
            (path, was) -> {
              if (!isElsewhere(was.directoryId())) {
                warnings.add(
                    """
                    the directory %s of the remote store, which was at %s, is in no directory of \
                    rsm.config.levels: segments that it alone has cannot be read or deleted. If it \
                    is to be at another path now, its file system is not mounted there: stop the \
                    broker and mount it, since what is copied to its mount point is hidden by the \
                    mount\
                    """
                        .formatted(was.directoryId(), path));
              }
            });
  }

  private List<Path> paths() {
    return options.levels().stream()
        .flatMap(level -> level.directories().stream())
        .map(StoreOptions.Directory::path)
        .toList();
  }

  /**
   * A directory without identity that another broker has signed in with, under the same path, is an
   * empty mount point, though this broker has never seen it.
   */
  private void learnFromOthers() {
    for (Path known : answering) {
      StoreIdentity store = requireNonNull(identities.get(known));
      try {
        for (StoreUpkeep.UsingBroker broker : StoreUpkeep.brokers(known, warnings::add)) {
          for (StoreUpkeep.Used used : broker.directories()) {
            for (Path path : paths()) {
              if (path.toString().equals(used.path())
                  && !identities.containsKey(path)
                  && !isElsewhere(used.id())) {
                identities.put(
                    path, new StoreIdentity(store.storeId(), store.clusterId(), used.id(), 0));
                missing.put(
                    path,
                    "broker %d uses the directory %s there"
                        .formatted(broker.brokerId(), used.id()));
              }
            }
          }
        }
      } catch (IOException e) {
        warnings.add(known + ": who uses it cannot be read: " + e.getMessage());
      }
    }
  }

  /** Returns whether a directory has been found under a path of this broker. */
  private boolean isElsewhere(String directoryId) {
    return identities.values().stream()
        .anyMatch(identity -> identity.directoryId().equals(directoryId));
  }

  /** All at once: a server that hangs has many of them, perhaps, and each takes its time. */
  private void readIdentities() throws IOException {
    long end = System.nanoTime() + ANSWER.toNanos();
    Map<Path, FutureTask<StoreIdentity>> reads = new LinkedHashMap<>();
    for (Path directory : paths()) {
      FutureTask<StoreIdentity> read = new FutureTask<>(() -> options.identities().read(directory));
      reads.put(directory, read);
      Thread thread = new Thread(read, "strata-remote-open");
      thread.setDaemon(true);
      thread.start();
    }
    Map<Path, IOException> failures = new LinkedHashMap<>();
    for (Map.Entry<Path, FutureTask<StoreIdentity>> each : reads.entrySet()) {
      try {
        identified(each.getKey(), result(each.getValue(), end - System.nanoTime()));
      } catch (IOException e) {
        failures.put(each.getKey(), e);
      }
    }
    remember(failures.keySet());
    for (Map.Entry<Path, IOException> failure : failures.entrySet()) {
      settle(failure.getKey(), failure.getValue());
    }
  }

  private static StoreIdentity result(FutureTask<StoreIdentity> read, long nanos)
      throws IOException {
    try {
      return read.get(nanos, TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw new TimeLimitException(
          "it did not answer within %d s: look at the file system and its mount"
              .formatted(ANSWER.toSeconds()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while the store was opened");
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException io) {
        throw io;
      }
      throw new IOException(e.getCause());
    }
  }

  /**
   * Takes directories for what they are remembered as. A directory that was found under another
   * path since, as when devices change their names, is not there any more: then this path belongs
   * to a remembered directory that is missing.
   */
  private void remember(Set<Path> unread) {
    for (Path path : unread) {
      memory
          .of(path)
          .filter(was -> !isElsewhere(was.directoryId()))
          .ifPresent(was -> identities.put(path, was));
    }
    for (Path path : unread) {
      if (memory.of(path).isPresent() && !identities.containsKey(path)) {
        memory.all().values().stream()
            .filter(was -> !isElsewhere(was.directoryId()))
            .findFirst()
            .ifPresent(was -> identities.put(path, was));
      }
    }
  }

  /** Decides what comes of a directory whose identity could not be read. */
  private void settle(Path directory, IOException failure) {
    Optional<StoreIdentity> remembered = Optional.ofNullable(identities.get(directory));
    if (failure instanceof NoSuchFileException) {
      remembered.ifPresent(
          was ->
              missing.put(
                  directory,
                  "the directory %s of the remote store was there".formatted(was.directoryId())));
      return;
    }
    if (failure instanceof CorruptManifestException damage) {
      if (CorruptManifestException.isOfOtherVersion(damage)) {
        throw new StoreRefusedException(String.valueOf(damage.getMessage()));
      }
      if (remembered.isEmpty() || !remembered.equals(memory.of(directory))) {
        throw new StoreRefusedException(
            damage.getMessage()
                + ". Restore the file from a backup of this directory, or start a broker that has"
                + " used the directory: it writes the file again");
      }
      restoreIdentity(directory, remembered.get(), damage);
      return;
    }
    String problem = directory + ": cannot be read: " + StoreDirectory.reason(failure);
    if (remembered.isEmpty()) {
      throw new StoreRefusedException(problem);
    }
    warnings.add(problem);
  }

  /** It is the directory, since it has such a file, and what was in that is remembered. */
  private void restoreIdentity(
      Path directory, StoreIdentity remembered, CorruptManifestException damage) {
    try {
      ByteBuffer bytes = ByteBuffer.wrap(remembered.print());
      // Several brokers may do it at once.
      Disk.replace(
          directory.resolve(StoreNames.IDENTITY),
          (Disk.Making<RuntimeException>) part -> Disk.write(part, bytes.duplicate()));
      boolean unused = answering.add(directory);
      warnings.add(damage.getMessage() + ". It was written again from what this broker remembers");
    } catch (IOException e) {
      warnings.add(
          damage.getMessage() + ", and cannot be written again: " + StoreDirectory.reason(e));
    }
  }

  private void identified(Path directory, StoreIdentity found) {
    if (!found.clusterId().equals(options.clusterId())) {
      throw new StoreRefusedException(
          """
          %s: found a remote store of cluster %s, expected one of this broker's cluster %s: give \
          rsm.config.* the directories of this cluster's store, or an empty one\
          """
              .formatted(directory, SegmentKey.printable(found.clusterId()), options.clusterId()));
    }
    identities.put(directory, found);
    boolean unused = answering.add(directory);
  }

  private void checkDistinct() {
    Map<String, Path> byId = new HashMap<>();
    for (Map.Entry<Path, StoreIdentity> entry : identities.entrySet()) {
      Path same = byId.put(entry.getValue().directoryId(), entry.getKey());
      if (same != null) {
        throw new StoreRefusedException(
            """
            %s: found the same directory as %s (%s), expected each once: it is mounted, linked or \
            copied twice\
            """
                .formatted(entry.getKey(), same, entry.getValue().directoryId()));
      }
    }
  }

  /**
   * Makes directories the store's: of the store that is there, if one is. Brokers that come at
   * once, and see the directories in another order or under other paths, make one store: its id
   * follows from the cluster's, and of the brokers one gives a directory its own.
   */
  private void format() {
    String storeId =
        identities.values().stream()
            .map(StoreIdentity::storeId)
            .min(Comparator.naturalOrder())
            .orElseGet(() -> StoreNames.idOf(options.clusterId()));
    for (Path directory : paths()) {
      if (identities.containsKey(directory)) {
        continue;
      }
      StoreIdentity found;
      try {
        prepare(directory);
        found = makeOrRead(directory, storeId);
      } catch (IOException e) {
        throw new StoreRefusedException(
            directory
                + ": cannot be made a directory of the remote store: "
                + StoreDirectory.reason(e)
                + "; expected one that the broker may write to");
      }
      identified(directory, found);
      firstUses.add(
          "%s, on %s, is used for the first time: it is directory %s of store %s"
              .formatted(directory, fileSystem(directory), found.directoryId(), found.storeId()));
    }
  }

  /** Names the device: an empty directory may be a mount point without its file system. */
  private static String fileSystem(Path directory) {
    try {
      return Files.getFileStore(directory).name();
    } catch (IOException e) {
      return "an unknown file system";
    }
  }

  /** One of several brokers makes the file, and all read it. */
  private StoreIdentity makeOrRead(Path directory, String storeId) throws IOException {
    StoreIdentity made =
        new StoreIdentity(
            storeId, options.clusterId(), StoreNames.randomId(), options.clock().millis());
    try {
      Path file = directory.resolve(StoreNames.IDENTITY);
      Disk.createExclusively(file, made.print());
      return made;
    } catch (FileAlreadyExistsException e) {
      return StoreIdentity.read(directory);
    }
  }

  private static void prepare(Path directory) throws IOException {
    List<Path> entries = StoreListing.entries(directory);
    if (!Files.isDirectory(directory)) {
      throw new StoreRefusedException(
          directory
              + ": is no directory, expected one: create it, owned by the user that the broker"
              + " runs as, or mount its file system");
    }
    for (Path entry : entries) {
      if (!mayBeThere(entry) && !FileStatus.isThere(directory.resolve(StoreNames.IDENTITY))) {
        throw new StoreRefusedException(
            """
            %s: found %s and no %s, expected a directory of a remote store, or an empty one: name \
            another directory\
            """
                .formatted(
                    directory,
                    SegmentKey.printable(StoreListing.name(entry)),
                    StoreNames.IDENTITY));
      }
    }
    // The identity comes last: a directory that has one has these.
    for (String name : MADE) {
      Path unused = Files.createDirectories(directory.resolve(name));
    }
    Disk.forceDirectory(directory);
  }

  /**
   * Returns whether another broker makes it just now, or has begun to, or a new file system has it.
   */
  private static boolean mayBeThere(Path entry) throws IOException {
    String name = StoreListing.name(entry);
    return name.equals(StoreNames.TOPICS)
        ? StoreListing.entries(entry).isEmpty()
        : name.startsWith(StoreNames.IDENTITY) || MADE.contains(name) || name.equals("lost+found");
  }
}
