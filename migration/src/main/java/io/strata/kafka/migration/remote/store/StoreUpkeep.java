package io.strata.kafka.migration.remote.store;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.migration.remote.calls.Deadlines;
import io.strata.kafka.migration.remote.store.disk.CopyPublishing;
import io.strata.kafka.migration.remote.store.disk.Disk;
import io.strata.kafka.migration.remote.store.disk.Leftovers;
import io.strata.kafka.migration.remote.store.disk.MoverLock;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.disk.StoreListing;
import io.strata.kafka.migration.remote.store.layout.JsonFile;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The broker's regular work for the store: lists it, notes that it uses it, clears away what dead
 * processes left, settles moves that a crash has interrupted.
 */
public final class StoreUpkeep implements AutoCloseable {

  private static final int VERSION = 1;

  private final SegmentStore store;
  private final MoverLock mover;

  public StoreUpkeep(SegmentStore store) {
    this.store = store;
    this.mover = new MoverLock(store.directories());
  }

  /** See {@link KnownSegments#refresh}. */
  public List<String> refresh(StoreDirectory directory, Runnable progress) throws IOException {
    return store.known.refresh(directory, progress);
  }

  /** Notes in a directory that this broker uses it. */
  public void signIn(StoreDirectory directory) throws IOException {
    directory.probe();
    directory.measure();
    UsingBroker broker = thisBroker();
    ObjectNode document = JsonFile.object(VERSION).put("brokerId", broker.brokerId());
    document.put("lastSeenMillis", store.clock().millis());
    ArrayNode directories = document.putArray("directories");
    for (Used used : broker.directories()) {
      directories
          .addObject()
          .put("id", used.id())
          .put("level", used.level())
          .put("path", used.path());
    }
    Disk.replace(signInFile(directory.path(), broker.brokerId()), JsonFile.print(document));
  }

  private UsingBroker thisBroker() {
    return new UsingBroker(
        store.options.brokerId(),
        store.directories().stream()
            .map(d -> new Used(d.level(), d.identity().directoryId(), d.path().toString()))
            .toList());
  }

  /**
   * The brokers that have used a directory.
   *
   * @param damaged gets a message for each whose file cannot be read; it is left out
   */
  public static List<UsingBroker> brokers(Path directory, Consumer<String> damaged)
      throws IOException {
    List<UsingBroker> brokers = new ArrayList<>();
    for (Path file : StoreListing.entries(directory.resolve(StoreNames.BROKERS))) {
      if (file.toString().endsWith(".json")) {
        try {
          brokers.add(broker(JsonFile.read(file, VERSION)));
        } catch (NoSuchFileException e) {
          // It was removed just now.
        } catch (IOException e) {
          damaged.accept(
              """
              %s: cannot be read: %s. It is left out; the broker writes it again when it runs, and \
              that of a broker that is gone can be removed\
              """
                  .formatted(file, StoreDirectory.reason(e)));
        }
      }
    }
    return brokers;
  }

  private static UsingBroker broker(JsonFile json) throws IOException {
    List<Used> directories = new ArrayList<>();
    for (JsonFile used : json.list("directories")) {
      directories.add(new Used(used.smallNumber("level"), used.text("id"), used.text("path")));
    }
    return new UsingBroker(json.smallNumber("brokerId"), directories);
  }

  /**
   * Recent brokers that use other directories than this one: what one of them copies, or moves,
   * another cannot read or delete. When one was last seen is asked of the file system, which dates
   * all the files: a broker's own clock may have been ahead.
   *
   * @param directory where they have signed in, and this one too
   * @param late how long before this broker's last sign-in, or after it, is recent
   * @param damaged as in {@link #brokers}
   */
  public List<UsingBroker> disagreeing(
      StoreDirectory directory, Duration late, Consumer<String> damaged)
      throws IOException, InterruptedException {
    return directory.brief(
        "reading who uses " + directory, control -> disagreeingIn(directory, late, damaged));
  }

  private List<UsingBroker> disagreeingIn(
      StoreDirectory directory, Duration late, Consumer<String> damaged) throws IOException {
    List<String> own = thisBroker().directoryIds();
    long now =
        signedIn(directory, store.options.brokerId()).orElseGet(() -> store.clock().millis());
    List<UsingBroker> others = new ArrayList<>();
    for (UsingBroker broker : brokers(directory.path(), damaged)) {
      if (!own.equals(broker.directoryIds())
          && Math.abs(now - signedIn(directory, broker.brokerId()).orElse(0)) <= late.toMillis()) {
        others.add(broker);
      }
    }
    return others;
  }

  /** The file by which a broker says that it uses a directory. */
  private static Path signInFile(Path directory, int broker) {
    return directory.resolve(StoreNames.BROKERS).resolve(broker + ".json");
  }

  /** Returns when a broker last signed in, by the clock of the file system; empty if it has not. */
  private static OptionalLong signedIn(StoreDirectory directory, int broker) throws IOException {
    try {
      return OptionalLong.of(
          Files.getLastModifiedTime(signInFile(directory.path(), broker)).toMillis());
    } catch (NoSuchFileException e) {
      return OptionalLong.empty();
    }
  }

  /** The time by the clock of the file system, which dates the files: this broker has signed in. */
  private long now(StoreDirectory directory) throws IOException {
    long now = store.clock().millis();
    return Math.min(now, signedIn(directory, store.options.brokerId()).orElse(now));
  }

  /** A broker that uses the store, and the directories that it uses. */
  public record UsingBroker(int brokerId, List<Used> directories) {
    public UsingBroker {
      directories = List.copyOf(directories);
    }

    /** The directories' ids in their order, each with the number of its level. */
    public List<String> directoryIds() {
      return directories.stream().map(d -> d.level() + ":" + d.id()).sorted().toList();
    }
  }

  /**
   * A directory that a broker uses.
   *
   * @param level the number of its level
   * @param id its own
   * @param path where the broker sees it
   */
  public record Used(int level, String id, String path) {}

  /**
   * The leftovers that were cleared away.
   *
   * @param left what cannot be removed now, each with the reason
   */
  public record Cleared(List<Path> removed, List<String> left) {
    public Cleared {
      removed = List.copyOf(removed);
      left = List.copyOf(left);
    }
  }

  /**
   * Removes what this broker's earlier processes left, what others left of that age, and what this
   * process could not remove before.
   */
  public Cleared clear(StoreDirectory directory, Duration age) throws IOException {
    List<Path> removed = new ArrayList<>();
    List<String> left = new ArrayList<>();
    directory.probe();
    for (Path top : store.publishing.remains()) {
      if (top.startsWith(directory.path())) {
        try {
          // A rename may not be durable yet: a power cut would bring the copy back in part.
          Disk.forceDirectory(directory.path().resolve(StoreNames.TRASH));
          Disk.removeTree(top);
          store.publishing.remains().remove(top);
        } catch (IOException e) {
          left.add(StoreDirectory.reason(e));
        }
      }
    }
    long now = now(directory);
    CopyPublishing process = store.publishing;
    Optional<Integer> broker = Optional.of(store.options.brokerId());
    for (Leftovers.Piece piece : Leftovers.find(directory.path(), broker, process.owner())) {
      if ((piece.own() || piece.olderThan(age, now)) && !process.remains().contains(piece.path())) {
        try {
          Leftovers.remove(directory.path(), piece, process.trashName());
          removed.add(piece.path());
        } catch (IOException e) {
          left.add(StoreDirectory.reason(e));
        }
      }
    }
    return new Cleared(removed, left);
  }

  /**
   * Returns whether this broker is the one that moves segments between levels and scrubs; it
   * becomes so, if no other is. A broker that was it and learns that it is not stops moving and
   * then calls {@link #releaseMover}: until then no other can be it.
   */
  public boolean isMover() throws IOException, InterruptedException {
    return mover.tryHold();
  }

  /**
   * Returns whether this broker is still the one that moves, as far as the store says now: a server
   * of NFS may have given its lock to another. Asked before each move.
   */
  public boolean isStillMover() throws IOException, InterruptedException {
    return mover.isStillHeld();
  }

  /** For the mover: see {@link MoveConfirmation#settle}. */
  public List<String> settle() throws InterruptedException {
    return new MoveConfirmation(store).settle();
  }

  /** See {@link SegmentDeletion#deletePending}; does nothing while a directory is suspended. */
  public Optional<IOException> deletePending(Deadlines calls, Duration limit, BooleanSupplier until)
      throws InterruptedException {
    return store.directories().stream().anyMatch(directory -> directory.access().isSuspended())
        ? Optional.empty()
        : new SegmentDeletion(store).deletePending(calls, limit, until);
  }

  /** Forgets what was read of segments that are not there any more. */
  public void forgetReads() {
    Set<String> ids = new HashSet<>();
    store.known.entries().forEach(entry -> ids.add(entry.key().id()));
    store.heat().retain(ids);
  }

  /**
   * Returns when a directory was last scrubbed, by any broker; if it never was, when that was first
   * asked.
   *
   * @return empty if the directory does not say
   */
  public OptionalLong lastScrubMillis(StoreDirectory directory) throws InterruptedException {
    try {
      return OptionalLong.of(
          directory.brief(
              "reading when " + directory + " was scrubbed", control -> lastScrub(directory)));
    } catch (IOException e) {
      return OptionalLong.empty(); // A visit says what is wrong with it.
    }
  }

  private long lastScrub(StoreDirectory directory) throws IOException {
    directory.checkAvailable();
    Path file = lastScrubFile(directory);
    if (!FileStatus.isThere(file)) {
      Disk.write(file, ByteBuffer.allocate(0));
      Disk.force(file);
      return dated(file);
    }
    long found = Files.getLastModifiedTime(file).toMillis();
    // A clock was ahead: no scrub would be due until then.
    return found > store.clock().millis() ? dated(file) : found;
  }

  private static Path lastScrubFile(StoreDirectory directory) {
    return directory.path().resolve(StoreNames.LOCKS).resolve("last-scrub");
  }

  /** Dates a file by this broker's clock. */
  private long dated(Path file) throws IOException {
    FileTime now = FileTime.fromMillis(store.clock().millis());
    return Files.getLastModifiedTime(Files.setLastModifiedTime(file, now)).toMillis();
  }

  /** Notes in a directory that it was scrubbed, if it can be written to. */
  public void scrubbed(StoreDirectory directory) throws InterruptedException {
    try {
      directory.brief(
          "noting that " + directory + " was scrubbed",
          control -> {
            directory.checkAvailable();
            return dated(lastScrubFile(directory));
          });
    } catch (IOException e) {
      // A visit says what is wrong with it.
    }
  }

  /** The process's name in staging, which a scrub leaves alone. */
  public String owner() {
    return store.publishing.owner();
  }

  /** Lets another broker be the one that moves. */
  public void releaseMover() throws IOException {
    mover.close();
  }

  @Override
  public void close() throws IOException {
    releaseMover();
  }
}
