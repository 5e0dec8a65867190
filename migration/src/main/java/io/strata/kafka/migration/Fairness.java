package io.strata.kafka.migration;

import io.strata.kafka.api.Move;
import io.strata.kafka.api.SegmentName;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Shares what a policy asks for between log directories, and in each between partitions: one move
 * of each in turn. Within a partition the policy's order stays.
 *
 * <p>Thread safety: stateless.
 */
final class Fairness {

  private record Partition(
      String directory, String topic, int number, SegmentName.Replica replica) {

    static Partition of(Move move) {
      SegmentName name = move.segment().name();
      return new Partition(
          move.segment().logDirectory(), name.id().topic(), name.id().partition(), name.replica());
    }
  }

  private Fairness() {}

  static List<Move> interleave(List<Move> moves) {
    return inTurn(inTurn(moves, Partition::of), move -> move.segment().logDirectory());
  }

  /** One move of each group in turn. */
  private static List<Move> inTurn(List<Move> moves, Function<Move, Object> group) {
    Map<Object, Deque<Move>> groups = new LinkedHashMap<>();
    for (Move move : moves) {
      groups.computeIfAbsent(group.apply(move), key -> new ArrayDeque<>()).add(move);
    }
    Deque<Deque<Move>> turns = new ArrayDeque<>(groups.values());
    List<Move> fair = new ArrayList<>(moves.size());
    while (!turns.isEmpty()) {
      Deque<Move> next = turns.remove();
      fair.add(next.remove());
      if (!next.isEmpty()) {
        turns.add(next);
      }
    }
    return fair;
  }
}
