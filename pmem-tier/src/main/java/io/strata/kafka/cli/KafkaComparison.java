package io.strata.kafka.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.cli.StoreInventory.Copy;
import io.strata.kafka.migration.remote.store.StoreIdentity;
import io.strata.kafka.migration.remote.store.StoreInspection;
import io.strata.kafka.migration.remote.store.StoreUnavailableException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Compares a store with what Kafka knows of it, and removes what Kafka does not need any more.
 *
 * <p>Not thread-safe.
 */
final class KafkaComparison {

  /** Why Kafka has no use for a segment. */
  enum Kind {
    /** It has no record of it. */
    UNKNOWN,
    /** It has deleted it. */
    DELETED,
    /** It began to copy it and never ended. */
    UNFINISHED,
    /** It began to delete it and has not ended; of a deleted topic it does not try again. */
    DELETING
  }

  private record Useless(Kind kind, Copy copy) {}

  /** Kafka notes the end of a copy some time after the copy can be seen. */
  private static final Duration COPYING = Duration.ofHours(1);

  private final List<Useless> useless = new ArrayList<>();
  private final List<Path> removed = new ArrayList<>();
  private final List<String> kept = new ArrayList<>();
  private final Optional<String> gap;

  private KafkaComparison(Optional<String> gap) {
    this.gap = gap;
  }

  /**
   * Compares.
   *
   * @param inventory the store as it was <em>before</em> Kafka was asked: Kafka notes a segment
   *     before it is copied, so that what is in the store and not known is really not known
   * @param age younger segments are passed over; those that Kafka began to copy for an hour at
   *     least
   * @throws RefusedException if the store is not that cluster's
   */
  static KafkaComparison of(StoreInventory inventory, KafkaView kafka, Duration age, long nowMillis)
      throws RefusedException {
    Optional<StoreIdentity> store = inventory.identity();
    if (store.isPresent() && !store.get().clusterId().equals(kafka.clusterId())) {
      throw new RefusedException(
          "--bootstrap-server: found cluster %s, expected %s, whose store this is"
              .formatted(kafka.clusterId(), store.get().clusterId()));
    }
    KafkaComparison comparison = new KafkaComparison(kafka.gap());
    for (Copy copy : inventory.copies()) {
      Duration old = Duration.ofMillis(nowMillis - copy.found().manifest().createdMillis());
      kind(Optional.ofNullable(kafka.states().get(copy.found().key().id())))
          .filter(kind -> old.compareTo(kind == Kind.UNFINISHED ? longer(age, COPYING) : age) >= 0)
          .ifPresent(kind -> comparison.useless.add(new Useless(kind, copy)));
    }
    return comparison;
  }

  private static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) >= 0 ? one : other;
  }

  private static Optional<Kind> kind(Optional<KafkaView.State> state) {
    if (state.isEmpty()) {
      return Optional.of(Kind.UNKNOWN);
    }
    return switch (state.get()) {
      case COPIED -> Optional.empty();
      case COPYING -> Optional.of(Kind.UNFINISHED);
      case DELETING -> Optional.of(Kind.DELETING);
      case DELETED -> Optional.of(Kind.DELETED);
    };
  }

  /**
   * Removes what Kafka does not need.
   *
   * @throws RefusedException if not all of what Kafka knows could be read; nothing was removed
   * @throws StoreUnavailableException if a directory does not answer
   */
  void remove() throws IOException, InterruptedException, RefusedException {
    if (gap.isPresent() && !useless.isEmpty()) {
      throw new RefusedException(
          """
          --remove-unknown: %s, so that Kafka may know segments that look unknown here; nothing \
          was removed\
          """
              .formatted(gap.get()));
    }
    for (Useless one : useless) {
      StoreInspection.Found found = one.copy().found();
      try {
        if (one.copy()
            .place()
            .whileItAnswers("removing from", control -> StoreInspection.remove(found))) {
          removed.add(found.path());
        }
      } catch (StoreUnavailableException e) {
        throw e;
      } catch (IOException e) {
        kept.add(Failures.messageOf(e));
      }
    }
  }

  /** Whether something is left that Kafka does not need. */
  boolean found() {
    return useless.size() > removed.size();
  }

  void printText(PrintWriter out) {
    out.println(
        "Kafka: %s%s%s"
            .formatted(
                useless.isEmpty()
                    ? "knows every segment"
                    : useless.size() + " copies of segments that it does not need",
                removed.isEmpty() ? "" : ", " + removed.size() + " removed",
                gap.map(reason -> "; but " + reason).orElse("")));
    for (Useless one : useless) {
      if (!removed.contains(one.copy().found().path())) {
        out.println("  " + label(one.kind()) + ": " + message(one));
      }
    }
    removed.forEach(path -> out.println("  removed: " + path));
    kept.forEach(reason -> out.println("  kept: " + reason));
  }

  void addJson(ObjectNode document) {
    ObjectNode kafka = document.putObject("kafka");
    gap.ifPresent(reason -> kafka.put("gap", reason));
    ArrayNode array = kafka.putArray("useless");
    for (Useless one : useless) {
      ObjectNode node = array.addObject();
      node.put("kind", label(one.kind()));
      node.put("path", one.copy().found().path().toString());
      node.put("bytes", one.copy().found().bytes());
    }
    ArrayNode gone = kafka.putArray("removed");
    removed.forEach(path -> gone.add(path.toString()));
    ArrayNode stays = kafka.putArray("kept");
    kept.forEach(stays::add);
  }

  private static String message(Useless one) {
    return "%s (%s): %s"
        .formatted(
            one.copy().found().path(),
            ByteSize.format(one.copy().found().bytes()),
            switch (one.kind()) {
              case UNKNOWN -> "Kafka has no record of it";
              case DELETED -> "Kafka has deleted it";
              case UNFINISHED -> "Kafka began to copy it and never noted an end";
              case DELETING -> "Kafka began to delete it and never noted an end";
            });
  }

  private static String label(Kind kind) {
    return kind.name().toLowerCase(Locale.ROOT);
  }
}
