package io.strata.kafka.bench.scenario;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A phase: what is done to the broker, and then groups that run at the same time.
 *
 * @param broker what is done to the broker before the clients connect
 * @param pauseSeconds before it begins
 * @param warmupSeconds at its beginning, not in the figures
 * @param limitSeconds after which it has failed
 * @param producers by name, in the file's order
 * @param consumers by name, in the file's order
 */
public record PhaseSpec(
    BrokerStep broker,
    double pauseSeconds,
    double warmupSeconds,
    double limitSeconds,
    Map<String, ProducerSpec> producers,
    Map<String, ConsumerSpec> consumers) {

  /** What is done to a broker between two phases. */
  public enum BrokerStep {
    /** Nothing. */
    STAYS,
    /** An orderly stop, and a start. */
    RESTART,
    /** The process is killed (kill -9), and a new one started. */
    KILL;

    /** Returns the word for it in a scenario. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Returns whether the phase has any group. */
  public boolean hasClients() {
    return !producers.isEmpty() || !consumers.isEmpty();
  }

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
    BrokerStep broker = step(place);
    if (producers.isEmpty() && consumers.isEmpty() && broker == BrokerStep.STAYS) {
      throw Units.wrong(
          place.path(),
          "no group",
          "one of producers or consumers at least, or broker: restart or kill");
    }
    for (String name : consumers.keySet()) {
      if (producers.containsKey(name)) {
        throw Units.wrong(
            place.path(), "producers and consumers named " + name, "a name of its own for each");
      }
    }
    return new PhaseSpec(
        broker,
        place.seconds("pause") * scale,
        place.seconds("warmup") * scale,
        place.seconds("limit"),
        producers,
        consumers);
  }

  private static BrokerStep step(Place place) {
    List<String> words = Stream.of(BrokerStep.values()).map(BrokerStep::word).toList();
    return BrokerStep.values()[words.indexOf(place.oneOf("broker", words))];
  }
}
