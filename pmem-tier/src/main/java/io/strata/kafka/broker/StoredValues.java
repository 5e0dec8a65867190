package io.strata.kafka.broker;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.config.LiveSettings.IgnoredKey;
import io.strata.kafka.unpublished.ConfigurationCall;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Knows which values of Kafka's dynamic configuration are left out, and from which level they come:
 * warns of each once, and has them for the broker's health until they are gone.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
final class StoredValues {

  enum Part {
    LOCAL("the local tiers"),
    REMOTE("the remote tier"),
    BROKER("the broker");

    private final String text;

    Part(String text) {
      this.text = text;
    }
  }

  private final Consumer<String> warn;

  /** The keys and values that Kafka has handed over last. */
  @GuardedBy("this")
  private Map<String, String> values = Map.of();

  /** Where the values come from that are not the file's. */
  @GuardedBy("this")
  private final Map<String, ConfigurationCall> levels = new HashMap<>();

  @GuardedBy("this")
  private final Map<Part, List<String>> reasons = new EnumMap<>(Part.class);

  /** None yet; warns in the broker's log. */
  StoredValues(Consumer<String> warn) {
    this.warn = warn;
  }

  /**
   * Notes all keys and values of the broker.
   *
   * @param call why Kafka hands them over: by what has changed since the last call
   */
  synchronized void handedOver(Map<String, ?> configs, ConfigurationCall call) {
    Map<String, String> now = new HashMap<>();
    configs.forEach(
        (name, value) -> {
          if (value != null) {
            now.put(name, String.valueOf(value));
          }
        });
    levels.keySet().retainAll(now.keySet());
    for (Map.Entry<String, String> each : now.entrySet()) {
      if (!each.getValue().equals(values.get(each.getKey()))) {
        // A broker's own value that changes may be gone, and the cluster's be seen again.
        levels.merge(each.getKey(), call, StoredValues::differ);
      }
    }
    values = now;
  }

  private static ConfigurationCall differ(ConfigurationCall before, ConfigurationCall after) {
    return before == ConfigurationCall.BROKER ? ConfigurationCall.UNKNOWN : after;
  }

  /** Notes the keys that a part has left out because their values are wrong. */
  synchronized void wrong(Part part, List<IgnoredKey> keys) {
    List<String> texts = new ArrayList<>();
    for (IgnoredKey key : keys) {
      texts.add(describe(key));
    }
    note(part, texts);
  }

  /** Notes that a part could not apply anything of a change. */
  synchronized void failed(Part part, Throwable reason) {
    note(
        part,
        List.of(
            "Changes of the configuration cannot be applied to %s, which goes on as it was set: %s"
                .formatted(part.text, reason)));
  }

  /** Notes what else keeps a part from what its keys ask for; empty if nothing does. */
  synchronized void note(Part part, List<String> texts) {
    Set<String> known =
        new HashSet<>(Optional.ofNullable(reasons.put(part, texts)).orElse(List.of()));
    texts.stream().filter(text -> !known.contains(text)).forEach(warn);
  }

  /** All of them, for the broker's health. */
  synchronized List<String> reasons() {
    List<String> all = new ArrayList<>();
    reasons.values().forEach(all::addAll);
    return all;
  }

  @GuardedBy("this")
  private String describe(IgnoredKey key) {
    ConfigurationCall level =
        Optional.ofNullable(levels.get(key.name())).orElse(ConfigurationCall.UNKNOWN);
    String broker =
        "--entity-name %s"
            .formatted(
                Optional.ofNullable(values.get("node.id"))
                    .or(() -> Optional.ofNullable(values.get("broker.id")))
                    .orElse("<node.id>"));
    String where =
        switch (level) {
          case CLUSTER_DEFAULT -> "for all brokers";
          case BROKER -> "for this broker";
          default -> "for all brokers or for this one";
        };
    String option =
        switch (level) {
          case CLUSTER_DEFAULT -> "--entity-default";
          case BROKER -> broker;
          default -> "--entity-default (or " + broker + ")";
        };
    return """
    Dynamic configuration %s=%s, stored %s, cannot be used and is left out, nothing else is: %s. \
    To remove it: kafka-configs.sh --bootstrap-server <broker> --alter --entity-type brokers %s \
    --delete-config %s\
    """
        .formatted(key.name(), key.value(), where, key.reason(), option, key.name());
  }
}
