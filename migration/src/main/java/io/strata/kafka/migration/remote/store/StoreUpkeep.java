package io.strata.kafka.migration.remote.store;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.migration.remote.store.disk.CopyPublishing;
import io.strata.kafka.migration.remote.store.disk.Disk;
import io.strata.kafka.migration.remote.store.disk.Leftovers;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.disk.StoreListing;
import io.strata.kafka.migration.remote.store.layout.JsonFile;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * The broker's regular work in a directory: notes that it uses it, and clears away what dead
 * processes left.
 */
public record StoreUpkeep(SegmentStore store) {

  private static final int VERSION = 1;

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
    /** The directories' ids in their order, each with the number of its level. */
    public List<String> directoryIds() {
      return directories.stream().map(d -> d.level() + ":" + d.id()).sorted().toList();
    }
  }

  /**
   * A directory that a broker uses.
   *
   * @param path where the broker sees it
   */
  public record Used(int level, String id, String path) {}

  /**
   * The leftovers that were cleared away.
   *
   * @param left what cannot be removed now, each with the reason
   */
  public record Cleared(List<Path> removed, List<String> left) {}

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
}
