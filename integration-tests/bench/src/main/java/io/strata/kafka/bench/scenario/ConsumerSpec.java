package io.strata.kafka.bench.scenario;

import java.util.List;
import java.util.Map;

/**
 * A group of consumers. Partitions are assigned to them, so that no rebalance is in the figures.
 *
 * @param clients how many on each host
 * @param topic the name of its topic in the scenario
 * @param share whether partitions are divided among the clients of all hosts
 * @param fromBeginning whether they begin at the log's beginning, or at its end
 * @param client the configuration of Kafka's consumer
 * @param rate of the whole group
 * @param startSeconds after the phase's beginning
 * @param until its end; none for the end of the log
 */
public record ConsumerSpec(
    int clients,
    String topic,
    boolean share,
    boolean fromBeginning,
    Map<String, String> client,
    RateProfile rate,
    double startSeconds,
    Until until) {

  static ConsumerSpec of(Place place, double scale) {
    return new ConsumerSpec(
        place.small("clients", place.count("clients", 1)),
        place.text("topic"),
        place.flag("share"),
        place.oneOf("from", List.of("beginning", "end")).equals("beginning"),
        place.properties("properties"),
        RateProfile.of(place.at("rate"), scale, place.bytes("record-size", 1)),
        place.seconds("start") * scale,
        Until.of(place.at("until"), scale));
  }
}
