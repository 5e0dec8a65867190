package io.strata.kafka.migration;

import io.strata.kafka.api.Move;
import io.strata.kafka.api.SegmentName;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Shares what a policy asks for between log directories, and in each between partitions: one move
 * of each in turn. Within a partition the policy's order stays.
 *
 * <p>Thread safety: stateless.
 */
final class Fairness {

  private record Partition(String topic, int number, SegmentName.Replica replica) {}

  private Fairness() {}

  static List<Move> interleave(List<Move> moves) {
    if (moves.size() < 3) {
      return moves;
    }
    Map<String, Map<Partition, Deque<Move>>> groups = new LinkedHashMap<>();
    for (Move move : moves) {
      SegmentName name = move.segment().name();
      groups
          .computeIfAbsent(move.segment().logDirectory(), directory -> new LinkedHashMap<>())
          .computeIfAbsent(
              new Partition(name.id().topic(), name.id().partition(), name.replica()),
              partition -> new ArrayDeque<>())
          .add(move);
    }
    Deque<Deque<Deque<Move>>> directories = new ArrayDeque<>();
    for (Map<Partition, Deque<Move>> partitions : groups.values()) {
      directories.add(new ArrayDeque<>(partitions.values()));
    }
    List<Move> fair = new ArrayList<>(moves.size());
    while (!directories.isEmpty()) {
      Deque<Deque<Move>> directory = directories.remove();
      Deque<Move> partition = directory.remove();
      fair.add(partition.remove());
      if (!partition.isEmpty()) {
        directory.add(partition);
      }
      if (!directory.isEmpty()) {
        directories.add(directory);
      }
    }
    return fair;
  }
}
