package io.strata.kafka.cli.remote;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.cli.remote.StoreInventory.Copy;
import io.strata.kafka.cli.terminal.ByteSize;
import io.strata.kafka.cli.terminal.CommandException;
import io.strata.kafka.cli.terminal.Failures;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.keep.StoreInspection;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreIdentity;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Compares a store with what Kafka knows of it, and removes what Kafka does not need any more. */
final class KafkaComparison {

  /** Kafka's progress with a segment. */
  enum State {
    COPIED("it is there"),
    /** Kafka notes each copy before it begins, so that the record itself is in doubt: kept. */
    UNKNOWN("Kafka has no record of it, or of its end; kept, because the record may be lost"),
    DELETED("Kafka has deleted it"),
    UNFINISHED("Kafka began this copy, never noted an end, and has made another one"),
    /** A deletion that has not ended; Kafka does not repeat that of a deleted topic. */
    DELETING("Kafka began to delete it and never noted an end");

    private final String meaning;

    State(String meaning) {
      this.meaning = meaning;
    }

    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * The remote segments of a cluster as Kafka knows them: the content of its topic {@code
   * __remote_log_metadata}.
   *
   * @param states the last state of each segment, by its id
   * @param segments what each segment is, by its id; not of those whose first record is gone
   * @param gap why not all records of the topic could be read; empty if all were
   */
  record KafkaView(
      String clusterId,
      Map<String, State> states,
      Map<String, KnownToKafka> segments,
      Optional<String> gap) {

    /** Returns the segments that Kafka may ask for, and that the store does not have. */
    Map<String, KnownToKafka> missingIn(StoreInventory inventory, Predicate<SegmentKey> chosen) {
      Map<String, KnownToKafka> missing = new HashMap<>(segments);
      missing.keySet().removeIf(id -> states.get(id) != State.COPIED);
      missing.values().removeIf(segment -> !chosen.test(segment.key()));
      inventory.segments().forEach(segment -> missing.remove(segment.key().id()));
      return missing;
    }

    /**
     * Returns the state of a copy. A copy that Kafka began and never ended is not needed only if
     * Kafka has copied the same offsets again, and the store has that copy unless Kafka has begun
     * to delete it. Otherwise the record of its end may have been lost, or it is the only copy.
     */
    State state(SegmentInfo copy, Set<String> stored) {
      State noted = states.getOrDefault(copy.key().id(), State.UNKNOWN);
      return noted != State.UNFINISHED || isCopiedAgain(copy, stored) ? noted : State.UNKNOWN;
    }

    private boolean isCopiedAgain(SegmentInfo copy, Set<String> stored) {
      return segments.values().stream()
          .filter(
              other ->
                  switch (states.getOrDefault(other.key().id(), State.UNKNOWN)) {
                    case COPIED -> stored.contains(other.key().id());
                    case DELETING, DELETED -> true;
                    case UNFINISHED, UNKNOWN -> false;
                  })
          .anyMatch(
              other ->
                  other.key().topicId().equals(copy.key().topicId())
                      && other.key().partition() == copy.key().partition()
                      && other.key().startOffset() <= copy.key().startOffset()
                      && other.endOffset() >= copy.endOffset());
    }
  }

  record KnownToKafka(SegmentKey key, long endOffset) {
    @Override
    public String toString() {
      return "%s-%d, offsets %d to %d (remote segment %s)"
          .formatted(key.topic(), key.partition(), key.startOffset(), endOffset, key.id());
    }
  }

  /** A copy that Kafka does not know or need, and why. */
  private record Useless(State state, Copy copy) {}

  /** Kafka notes the end of a copy some time after the copy can be seen. */
  private static final Duration COPYING = Duration.ofHours(1);

  private final List<Useless> useless = new ArrayList<>();
  private final List<Path> removed = new ArrayList<>();
  private final List<String> kept = new ArrayList<>();
  private final Optional<String> gap;
  private final List<KnownToKafka> lost;
  private int young;

  private KafkaComparison(Optional<String> gap, List<KnownToKafka> lost) {
    this.gap = gap;
    this.lost = lost;
  }

  /**
   * Compares.
   *
   * @param inventory the store as it was <em>before</em> Kafka was asked: Kafka notes a segment
   *     before it is copied, so that what is in the store and not known is really not known
   * @param lost what Kafka may ask for, and the store does not have
   * @param age younger segments are skipped; those that Kafka began to copy for an hour at least
   * @throws CommandException if the store is not that cluster's
   */
  static KafkaComparison of(
      StoreInventory inventory,
      KafkaView kafka,
      List<KnownToKafka> lost,
      Duration age,
      long nowMillis)
      throws CommandException {
    Optional<StoreIdentity> store = inventory.identity();
    if (store.isPresent() && !store.get().clusterId().equals(kafka.clusterId())) {
      throw CommandException.refused(
          "--bootstrap-server: found cluster %s, expected %s, whose store this is"
              .formatted(kafka.clusterId(), store.get().clusterId()));
    }
    KafkaComparison comparison = new KafkaComparison(kafka.gap(), lost);
    Set<String> stored =
        inventory.segments().stream().map(each -> each.key().id()).collect(Collectors.toSet());
    for (Copy copy : inventory.copies()) {
      State state = kafka.state(copy.found().manifest().segment(), stored);
      Duration old = Duration.ofMillis(nowMillis - copy.found().manifest().createdMillis());
      boolean begun = kafka.states().get(copy.found().key().id()) == State.UNFINISHED;
      Duration least = begun && age.compareTo(COPYING) < 0 ? COPYING : age;
      if (state != State.COPIED && old.compareTo(least) >= 0) {
        comparison.useless.add(new Useless(state, copy));
      } else if (state != State.COPIED) {
        comparison.young++;
      }
    }
    return comparison;
  }

  /**
   * Removes what Kafka has noted and does not need.
   *
   * @throws CommandException if not all of what Kafka knows could be read; nothing was removed
   * @throws StoreUnavailableException if a directory does not answer
   */
  void remove() throws IOException, InterruptedException, CommandException {
    requireWhole();
    for (Useless one : useless) {
      if (one.state() != State.UNKNOWN) {
        remove(one.copy());
      }
    }
  }

  void requireWhole() throws CommandException {
    if (gap.isPresent()) {
      throw CommandException.refused(
          """
          --remove-unneeded: %s, so that Kafka may need what looks unneeded here; nothing was \
          removed\
          """
              .formatted(gap.get()));
    }
  }

  private void remove(Copy copy) throws IOException, InterruptedException {
    StoreInspection.Found found = copy.found();
    try {
      if (copy.place().whileItAnswers("removing from", control -> StoreInspection.remove(found))) {
        removed.add(found.path());
      }
    } catch (StoreUnavailableException e) {
      throw e;
    } catch (IOException e) {
      kept.add(Failures.messageOf(e));
    }
  }

  /** Returns whether something is left that Kafka does not need, or something is lost. */
  boolean found() {
    return useless.size() > removed.size() || !lost.isEmpty();
  }

  void print(PrintWriter out) {
    out.printf(
        "Kafka: %s%s%s%n",
        useless.isEmpty()
            ? "knows every segment" + (young > 0 ? " but %d young ones".formatted(young) : "")
            : useless.size() + " copies of segments that it does not know or need",
        removed.isEmpty() ? "" : ", " + removed.size() + " removed",
        gap.map(reason -> "; but " + reason).orElse(""));
    for (Useless one : useless) {
      if (!removed.contains(one.copy().found().path())) {
        out.printf(
            "  %s: %s (%s): %s%n",
            one.state().label(),
            one.copy().found().path(),
            ByteSize.format(one.copy().found().bytes()),
            one.state().meaning);
      }
    }
    lost.forEach(segment -> out.println("  lost: " + segment + ": in no directory"));
    removed.forEach(path -> out.println("  removed: " + path));
    kept.forEach(reason -> out.println("  kept: " + reason));
  }

  void describe(ObjectNode document) {
    ObjectNode kafka = document.putObject("kafka");
    gap.ifPresent(reason -> kafka.put("gap", reason));
    ArrayNode unneeded = kafka.putArray("unneeded");
    ArrayNode unknown = kafka.putArray("unknown");
    for (Useless one : useless) {
      ObjectNode node = (one.state() == State.UNKNOWN ? unknown : unneeded).addObject();
      node.put("kind", one.state().label());
      node.put("path", one.copy().found().path().toString());
      node.put("bytes", one.copy().found().bytes());
    }
    kafka.put("young", young);
    ArrayNode gone = kafka.putArray("lost");
    for (KnownToKafka segment : lost) {
      ObjectNode node = gone.addObject();
      node.put("topic", segment.key().topic());
      node.put("partition", segment.key().partition());
      node.put("startOffset", segment.key().startOffset());
      node.put("endOffset", segment.endOffset());
      node.put("id", segment.key().id());
    }
    removed.stream().map(Path::toString).forEach(kafka.putArray("removed")::add);
    kept.forEach(kafka.putArray("kept")::add);
  }
}
