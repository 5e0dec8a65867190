package io.strata.kafka.cli.pool;

import io.strata.kafka.cli.pool.SegmentInventory.SegmentEntry;
import io.strata.kafka.cli.terminal.ByteSize;
import io.strata.kafka.cli.terminal.RefusedException;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The space that a drain needs in the log directories' file systems: for what only the pools have.
 *
 * @param stores one for each file system
 */
public record DrainSpace(List<OnStore> stores) {

  /** Longer than that of any usual file system. */
  private static final long BLOCK = 4096;

  /**
   * The space of one file system.
   *
   * @param store its device
   * @param directories the log directories on it
   * @param needed bytes that a drain writes there
   * @param free bytes that may be written
   */
  public record OnStore(String store, List<Path> directories, long needed, long free) {
    public boolean isEnough() {
      return free >= needed;
    }
  }

  public DrainSpace {
    stores = List.copyOf(stores);
  }

  /** Looks into log directories, and leaves what is in them in the inventory. */
  public static DrainSpace of(SegmentInventory inventory, List<Path> logDirectories)
      throws IOException {
    Map<String, FileStore> stores = new LinkedHashMap<>();
    Map<String, List<Path>> directories = new LinkedHashMap<>();
    for (Path directory : logDirectories) {
      if (Files.isDirectory(directory)) {
        inventory.walk(directory, any -> true);
        FileStore store = Files.getFileStore(directory);
        stores.put(store.toString(), store);
        directories.computeIfAbsent(store.toString(), key -> new ArrayList<>()).add(directory);
      }
    }
    Map<String, Long> needed = new LinkedHashMap<>();
    for (SegmentEntry entry : inventory.entries()) {
      long bytes = needed(entry);
      if (bytes > 0) {
        // A partition may be a symbolic link to another file system.
        FileStore store = Files.getFileStore(entry.file());
        stores.putIfAbsent(store.toString(), store);
        needed.merge(store.toString(), bytes, Long::sum);
      }
    }
    List<OnStore> all = new ArrayList<>();
    for (Map.Entry<String, FileStore> each : stores.entrySet()) {
      all.add(
          new OnStore(
              each.getKey(),
              directories.getOrDefault(each.getKey(), List.of()),
              needed.getOrDefault(each.getKey(), 0L),
              each.getValue().getUsableSpace()));
    }
    return new DrainSpace(all);
  }

  private static long needed(SegmentEntry entry) throws IOException {
    long bytes = entry.bytesOnlyInPool();
    if (bytes > 0 && entry.state() == SegmentEntry.State.HOT) {
      try {
        // A start truncates the bytes that a copy has left behind the clean ones.
        bytes -= Math.max(0, Math.min(Files.size(entry.file()), entry.end()) - entry.clean());
      } catch (NoSuchFileException deleted) {
        return 0;
      }
    }
    return (bytes + BLOCK - 1) / BLOCK * BLOCK;
  }

  /**
   * Throws if a drain would not find the space that it needs.
   *
   * @throws RefusedException names the directories, and what to do
   */
  void require() throws RefusedException {
    for (OnStore each : stores) {
      if (!each.isEnough()) {
        throw new RefusedException(
            """
            log directories %s: found %s free on their file system %s, expected %s for what only \
            the pools have, and changed nothing; make the file system larger or delete what is not \
            Kafka's there, or start the broker and shorten the retention of large topics; then \
            drain again\
            """
                .formatted(
                    each.directories(),
                    ByteSize.format(each.free()),
                    each.store(),
                    ByteSize.format(each.needed())));
      }
    }
  }
}
