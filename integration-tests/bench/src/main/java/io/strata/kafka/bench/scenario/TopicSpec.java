package io.strata.kafka.bench.scenario;

import java.util.Map;

/**
 * A topic, or one for each client.
 *
 * @param partitions of each topic
 * @param replication its replication factor
 * @param perClient whether each client of a group has a topic of its own
 * @param config the topic's configuration
 */
public record TopicSpec(
    int partitions, int replication, boolean perClient, Map<String, String> config) {

  static TopicSpec of(Place place) {
    return new TopicSpec(
        place.small("partitions", place.count("partitions", 1)),
        place.small("replication", Math.min(Short.MAX_VALUE, place.count("replication", 1))),
        place.flag("per-client"),
        place.properties("config"));
  }
}
