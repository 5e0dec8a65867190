package io.strata.kafka.tier;

import io.strata.kafka.segment.SegmentTag;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;

/** The partitions that have bytes in pools that are not there. Used by one thread. */
final class LostPools {

  private static final int NAMED = 20;

  private final Map<UUID, TreeSet<String>> partitions = new TreeMap<>();
  private final TreeSet<String> directories = new TreeSet<>();
  private int segments;

  void add(SegmentTag tag, Path home) {
    Path partition = home.getParent();
    if (partition != null) {
      partitions
          .computeIfAbsent(tag.pool(), id -> new TreeSet<>())
          .add(String.valueOf(partition.getFileName()));
      Path directory = partition.getParent();
      if (directory != null) {
        directories.add(directory.toString());
      }
    }
    segments++;
  }

  /**
   * Does nothing when no pool is lost.
   *
   * @param open the pools that are there, for the message
   * @throws IOException naming the lost pools and the partitions
   */
  void refuse(String open) throws IOException {
    if (segments == 0) {
      return;
    }
    StringBuilder message = new StringBuilder();
    message
        .append(segments)
        .append(segments == 1 ? " segment has" : " segments have")
        .append(" bytes in pools that are not open:");
    partitions.forEach(
        (pool, names) -> {
          message.append(" pool ").append(pool).append(": ");
          message.append(names.size()).append(" partitions (");
          message.append(String.join(", ", names.stream().limit(NAMED).toList()));
          message.append(names.size() > NAMED ? ", ..." : "").append(");");
        });
    message
        .append(" strata.pools has ")
        .append(open)
        .append(
            ". Add the missing pool's file to strata.pools, or bring it back from where it was;"
                + " if it is lost, 'strata set-aside' moves these partitions out of the log"
                + " directories, and Kafka replicates them again from their other replicas");
    throw new FileSystemException(String.join(", ", directories), null, message.toString());
  }
}
