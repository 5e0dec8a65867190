package io.strata.kafka.bench.scenario;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A phase: groups that run at the same time.
 *
 * @param pauseSeconds before it begins
 * @param warmupSeconds at its beginning, not in the figures
 * @param limitSeconds after which it has failed
 * @param producers by name, in the file's order
 * @param consumers by name, in the file's order
 */
public record PhaseSpec(
    double pauseSeconds,
    double warmupSeconds,
    double limitSeconds,
    Map<String, ProducerSpec> producers,
    Map<String, ConsumerSpec> consumers) {

  static PhaseSpec of(Place place, double scale) {
    Map<String, ProducerSpec> producers = new LinkedHashMap<>();
    place
        .at("producers")
        .children()
        .forEach((name, group) -> producers.put(name, ProducerSpec.of(group, scale)));
    Map<String, ConsumerSpec> consumers = new LinkedHashMap<>();
    place
        .at("consumers")
        .children()
        .forEach((name, group) -> consumers.put(name, ConsumerSpec.of(group, scale)));
    if (producers.isEmpty() && consumers.isEmpty()) {
      throw Units.wrong(place.path(), "no group", "one of producers or consumers at least");
    }
    for (String name : consumers.keySet()) {
      if (producers.containsKey(name)) {
        throw Units.wrong(
            place.path(), "producers and consumers named " + name, "a name of its own for each");
      }
    }
    return new PhaseSpec(
        place.seconds("pause") * scale,
        place.seconds("warmup") * scale,
        place.seconds("limit"),
        producers,
        consumers);
  }
}
