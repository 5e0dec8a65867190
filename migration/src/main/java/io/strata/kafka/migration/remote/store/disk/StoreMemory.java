package io.strata.kafka.migration.remote.store.disk;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.migration.remote.store.layout.JsonFile;
import io.strata.kafka.migration.remote.store.layout.StoreIdentity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Remembers, in the broker's log directories, which directories are the store's: the file {@code
 * strata-remote-store.json}. Without it an empty mount point looks like a new directory, and would
 * be written to. Used by one thread.
 */
public final class StoreMemory {

  public static final String FILE = "strata-remote-store.json";
  private static final int VERSION = 1;

  private final List<Path> places;

  private final Map<String, StoreIdentity> known = new HashMap<>();

  /** Remembers nothing yet, or what was remembered is damaged. */
  public StoreMemory(List<Path> places) {
    this.places = places;
  }

  /**
   * Reads what is remembered, in whichever of the places it is.
   *
   * @throws IOException if it cannot be read in any place, though a place has it
   */
  public static StoreMemory read(List<Path> places) throws IOException {
    StoreMemory memory = new StoreMemory(places);
    inAny(
        places,
        file -> {
          if (!FileStatus.isThere(file)) {
            return false;
          }
          for (JsonFile json : JsonFile.read(file, VERSION).list("directories")) {
            memory.known.put(json.text("path"), StoreIdentity.parse(json));
          }
          return true;
        });
    return memory;
  }

  private interface Access {
    /** Returns whether it was done, or else was not to be done. */
    boolean of(Path file) throws IOException;
  }

  /** A log directory may fail; another has the file too. */
  private static void inAny(List<Path> places, Access access) throws IOException {
    Optional<IOException> problem = Optional.empty();
    boolean done = false;
    for (Path place : places) {
      try {
        done |= access.of(place.resolve(FILE));
      } catch (IOException e) {
        problem = Optional.of(e);
      }
    }
    if (!done && problem.isPresent()) {
      throw problem.get();
    }
  }

  public Optional<StoreIdentity> of(Path directory) {
    return Optional.ofNullable(known.get(directory.toString()));
  }

  /** Returns whether each of these is remembered as the directory that it is. */
  public boolean knows(Map<Path, StoreIdentity> directories) {
    return directories.entrySet().stream()
        .allMatch(
            each ->
                of(each.getKey())
                    .filter(was -> was.directoryId().equals(each.getValue().directoryId()))
                    .isPresent());
  }

  /** Returns all that is remembered, by the paths. */
  public Map<String, StoreIdentity> all() {
    return Collections.unmodifiableMap(known);
  }

  /**
   * Remembers these, and no others: one that is taken out of the configuration is forgotten.
   *
   * @throws IOException if no place can be written; what was remembered before still is
   */
  public void remember(Map<Path, StoreIdentity> directories) throws IOException {
    ObjectNode document = JsonFile.object(VERSION);
    ArrayNode array = document.putArray("directories");
    // In the order of their paths, whichever of them answered first.
    new TreeMap<>(directories)
        .forEach(
            (path, identity) -> identity.print(array.addObject().put("path", path.toString())));
    byte[] bytes = JsonFile.print(document);
    inAny(
        places,
        file -> {
          // Asks nothing without need of a log directory that is full, or cannot be written.
          if (!FileStatus.isThere(file) || !Arrays.equals(Files.readAllBytes(file), bytes)) {
            Disk.replace(file, bytes);
          }
          return true;
        });
  }
}
