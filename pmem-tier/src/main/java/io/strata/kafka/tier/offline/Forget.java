package io.strata.kafka.tier.offline;

import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolReader;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.directory.LogDirectory;
import io.strata.kafka.tier.directory.TaggedLogFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Frees the segments of a log directory that is gone for good.
 *
 * <p>Thread safety: used by one thread, with no broker running (the pool's lock sees to it).
 */
public final class Forget {

  private Forget() {}

  /**
   * The segments that the pool holds for a log directory.
   *
   * @param pool a pool's file
   * @param directory the identity of a log directory
   * @param logDirectories the broker's: a segment whose file is in one of them is not discarded
   * @param really whether to free them; without it nothing is changed
   * @return their paths, relative to the log directory
   */
  public static List<String> run(
      Path pool, UUID directory, Collection<Path> logDirectories, boolean really)
      throws IOException {
    List<String> forgotten = new ArrayList<>();
    Set<SegmentTag> named = new HashSet<>();
    for (Path logDirectory : logDirectories) {
      TaggedLogFile.in(logDirectory.toRealPath()).forEach(logFile -> named.add(logFile.tag()));
    }
    try (Pool opened = Pool.open(pool, MemoryType.MAPPED, PoolOwner.ANY)) {
      for (Slot slot : opened.slots()) {
        SegmentTag tag = new Residence(slot, opened).tag();
        if (slot.directoryId().equals(directory) && !named.contains(tag)) {
          forgotten.add(slot.relativePath());
          if (really) {
            var extents = slot.extents().toList();
            slot.discard();
            opened.release(extents);
          }
        }
      }
    }
    return forgotten;
  }

  /**
   * Frees all that the pools have of a log directory, and gives it another identity: it is a new
   * one from then on. No log file of it names a slot any more.
   *
   * @param pools the files of the pools that are there
   * @param really whether to do so; without it nothing is changed
   * @return how many segments these are
   */
  public static int all(Collection<Path> pools, Path logDirectory, boolean really)
      throws IOException {
    Optional<LogDirectory> known = LogDirectory.find(logDirectory.toRealPath());
    if (known.isEmpty()) {
      return 0;
    }
    int segments = 0;
    for (Path file : pools) {
      if (really) {
        segments += run(file, known.get().id(), List.of(logDirectory), true).size();
      } else {
        try (PoolReader pool = Pool.openReadOnly(file)) {
          UUID id = known.get().id();
          segments +=
              (int) pool.readAll().stream().filter(each -> each.directoryId().equals(id)).count();
        }
      }
    }
    if (really) {
      known.get().release();
      known.get().renew();
    }
    return segments;
  }
}
