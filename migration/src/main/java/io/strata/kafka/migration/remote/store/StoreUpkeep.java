package io.strata.kafka.migration.remote.store;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
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
 * What a broker does for the store now and then: lists it, notes that it uses it, clears away what
 * dead processes left, settles moves that a crash has interrupted.
 *
 * <p>Thread safety: all methods may be called by any number of threads, those about one directory
 * by one at a time.
 */
public final class StoreUpkeep implements AutoCloseable {

  private static final int VERSION = 1;
  private static final String LAST_SCRUB = "last-scrub";

  private final StoreParts store;
  private final MoverLock mover;

  /** For a store. */
  public StoreUpkeep(SegmentStore store) {
    this.store = store.parts();
    this.mover = new MoverLock(store.directories());
  }

  /**
   * Lists a directory again.
   *
   * @return what could not be read: a message each
   * @throws IOException if the directory cannot be used; what was known of it stays
   */
  public List<String> refresh(StoreDirectory directory) throws IOException {
    return store.known().refresh(directory);
  }

  /** Notes in a directory that this broker uses it. */
  public void signIn(StoreDirectory directory) throws IOException {
    directory.probe();
    directory.measure();
    Path file = signInFile(directory, store.options().brokerId());
    ObjectNode document = JsonFile.object();
    document.put("formatVersion", VERSION);
    document.put("brokerId", store.options().brokerId());
    document.put("lastSeenMillis", store.clock().millis());
    ArrayNode directories = document.putArray("directories");
    store
        .directories()
        .forEach(
            d ->
                directories
                    .addObject()
                    .put("id", d.identity().directoryId())
                    .put("level", d.level())
                    .put("path", d.path().toString()));
    Disk.replace(file, JsonFile.print(document));
  }

  /**
   * The brokers that have used a directory.
   *
   * @param directory the store's directory
   * @param damaged is told of what cannot be read: a message each. One broker's file says nothing
   *     of the others'
   */
  public static List<UsingBroker> brokers(Path directory, Consumer<String> damaged)
      throws IOException {
    List<UsingBroker> brokers = new ArrayList<>();
    for (Path file : StoreListing.entries(directory.resolve(StoreNames.BROKERS))) {
      if (file.toString().endsWith(".json")) {
        try {
          brokers.add(broker(file));
        } catch (IOException e) {
          if (!(e instanceof NoSuchFileException)) { // Which was removed just now.
            damaged.accept(
                """
                %s: cannot be read: %s. It is left out; the broker writes it again when it runs, and \
                that of a broker that is gone can be removed\
                """
                    .formatted(file, StoreDirectory.reason(e)));
          }
        }
      }
    }
    return brokers;
  }

  private static UsingBroker broker(Path file) throws IOException {
    String name = file.toString();
    ObjectNode document = JsonFile.read(file);
    JsonFile.checkVersion(name, document, VERSION);
    List<Used> directories = new ArrayList<>();
    for (JsonNode directory : document.path("directories")) {
      directories.add(
          new Used(
              JsonFile.smallNumber(name, directory, "level"),
              JsonFile.text(name, directory, "id"),
              JsonFile.text(name, directory, "path")));
    }
    return new UsingBroker(JsonFile.smallNumber(name, document, "brokerId"), directories);
  }

  /**
   * Recent brokers that use other directories than this one: what one of them copies, or moves,
   * another cannot read or delete.
   *
   * <p>When one was last seen is asked of the file system, which dates all the files: a broker's
   * own clock may have been ahead, and what it wrote would be recent for years.
   *
   * @param directory where they have signed in, and this one, too
   * @param late how long before this broker's last sign-in, or after it, is recent
   * @param damaged is told of sign-ins that cannot be read
   */
  public List<UsingBroker> disagreeing(
      StoreDirectory directory, Duration late, Consumer<String> damaged)
      throws IOException, InterruptedException {
    return directory
        .access()
        .brief("reading who uses " + directory, control -> disagreeingIn(directory, late, damaged));
  }

  private List<UsingBroker> disagreeingIn(
      StoreDirectory directory, Duration late, Consumer<String> damaged) throws IOException {
    List<String> own =
        new UsingBroker(
                store.options().brokerId(),
                store.directories().stream()
                    .map(d -> new Used(d.level(), d.identity().directoryId(), d.path().toString()))
                    .toList())
            .directoryIds();
    long now = now(directory);
    List<UsingBroker> others = new ArrayList<>();
    for (UsingBroker broker : brokers(directory.path(), damaged)) {
      if (!own.equals(broker.directoryIds())
          && Math.abs(now - signedIn(directory, broker.brokerId()).orElse(0)) <= late.toMillis()) {
        others.add(broker);
      }
    }
    return others;
  }

  private static Path signInFile(StoreDirectory directory, int broker) {
    return directory.path().resolve(StoreNames.BROKERS).resolve(broker + ".json");
  }

  /** When a broker last signed in, by the clock of the file system; empty if it has not. */
  private static OptionalLong signedIn(StoreDirectory directory, int broker) throws IOException {
    return Disk.lastModified(signInFile(directory, broker));
  }

  /**
   * A broker that uses the store.
   *
   * @param brokerId its id
   * @param directories those that it uses
   */
  public record UsingBroker(int brokerId, List<Used> directories) {
    /** Copies the list. */
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
   * Removes what this broker's earlier processes left, and what others left that is old.
   *
   * @param age how old
   * @return what was removed
   */
  public List<Path> clear(StoreDirectory directory, Duration age) throws IOException {
    List<Path> removed = new ArrayList<>();
    directory.probe();
    long now = now(directory);
    for (Leftovers.Piece piece :
        Leftovers.find(
            directory.path(),
            Optional.of(store.options().brokerId()),
            store.publishing().owner())) {
      if (piece.own() || piece.olderThan(age, now)) {
        Leftovers.remove(directory.path(), piece, store.publishing().trashName());
        removed.add(piece.path());
      }
    }
    return removed;
  }

  /** The time by the clock of the file system, which dates the files: this broker has signed in. */
  private long now(StoreDirectory directory) throws IOException {
    long now = store.clock().millis();
    return Math.min(now, signedIn(directory, store.options().brokerId()).orElse(now));
  }

  /**
   * Whether this broker is the one that moves segments between levels and scrubs; it becomes so, if
   * no other is. One that was it and learns that it is not stops moving and then calls {@link
   * #giveUpMoving}: until then no other can be it.
   */
  public boolean isMover() throws IOException, InterruptedException {
    return mover.tryHold();
  }

  /**
   * Whether this broker is still the one that moves, as far as the store says now: a server of NFS
   * may have given its lock to another. Asked before each move.
   */
  public boolean isStillMover() throws IOException, InterruptedException {
    return mover.isStillHeld();
  }

  /**
   * Ends the moves that a crash has interrupted; for the mover.
   *
   * @return what could not be looked at: a message each
   */
  public List<String> settle() throws InterruptedException {
    return new MoveConfirmation(store).settle();
  }

  /**
   * Deletes what was to be deleted while a directory could not be used.
   *
   * @param until asked before each deletion: whether it is time for something else
   * @return why some of it waits still; empty if none does, or the time was over
   */
  public Optional<IOException> deletePending(BooleanSupplier until) throws InterruptedException {
    boolean suspended =
        store.directories().stream().anyMatch(directory -> directory.access().isSuspended());
    return suspended ? Optional.empty() : new SegmentDeletion(store).deletePending(until);
  }

  /** Forgets what was read of segments that are not there any more. */
  public void forgetReads() {
    Set<String> ids = new HashSet<>();
    store.known().entries().forEach(entry -> ids.add(entry.key().id()));
    store.heat().retain(ids);
  }

  /**
   * When a scrub last ended, by any broker; if none ever did, when the store was first asked. It is
   * noted in each directory that can be written to: any of them may be gone.
   *
   * @return empty if no directory tells
   */
  public OptionalLong lastScrubMillis() throws InterruptedException {
    OptionalLong last = OptionalLong.empty();
    for (StoreDirectory directory : store.directories()) {
      try {
        long found =
            directory
                .access()
                .brief("reading when " + directory + " was scrubbed", c -> lastScrub(directory));
        last = OptionalLong.of(Math.max(found, last.orElse(0)));
      } catch (IOException e) {
        // Another one tells; a visit says what is wrong with this one.
      }
    }
    return last;
  }

  private long lastScrub(StoreDirectory directory) throws IOException {
    directory.checkAvailable();
    Path file = directory.path().resolve(StoreNames.LOCKS).resolve(LAST_SCRUB);
    long now = store.clock().millis();
    if (!Disk.isThere(file)) {
      Disk.writeNew(file, ByteBuffer.allocate(0));
      Path unused = Files.setLastModifiedTime(file, FileTime.fromMillis(now));
    }
    long found = Files.getLastModifiedTime(file).toMillis();
    if (found > now) {
      // A clock was ahead: no scrub would be due until then.
      Path unused = Files.setLastModifiedTime(file, FileTime.fromMillis(now));
      return now;
    }
    return found;
  }

  /** A scrub has ended. */
  public void scrubbed() throws InterruptedException {
    for (StoreDirectory directory : store.directories()) {
      try {
        boolean unused =
            directory
                .access()
                .brief(
                    "noting that " + directory + " was scrubbed",
                    control -> {
                      directory.checkAvailable();
                      Path file = directory.path().resolve(StoreNames.LOCKS).resolve(LAST_SCRUB);
                      Path unusedPath =
                          Files.setLastModifiedTime(
                              file, FileTime.fromMillis(store.clock().millis()));
                      return true;
                    });
      } catch (IOException e) {
        // Another one has it; a visit says what is wrong with this one.
      }
    }
  }

  /** The process's name in staging, which a scrub leaves alone. */
  public String owner() {
    return store.publishing().owner();
  }

  /** Lets another broker be the one that moves. */
  public void giveUpMoving() throws IOException {
    mover.close();
  }

  @Override
  public void close() throws IOException {
    giveUpMoving();
  }
}
