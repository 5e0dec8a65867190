package io.strata.kafka.crash;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * The simulation finds out when something is not made durable that must be: each place at which the
 * tier does so is taken away in turn.
 *
 * <p>{@code crash-sites.txt} lists the places, each with the seed that finds out, or with {@code -}
 * and the reason why none need. {@code -Dstrata.crash.mutations=n} searches for seeds of those that
 * have none, n cuts for each place, and prints such a list; {@code none} looks for nothing. {@code
 * -Dstrata.crash.places=text} looks at those alone whose label matches this regular expression.
 */
@Tag("long")
final class MutationTest {

  private static final String LIST = "/io/strata/kafka/crash/crash-sites.txt";
  private static final int SEEDS = 96;
  private static final int MOST_CUTS = 5000;

  @Test
  @DisabledIfSystemProperty(named = "strata.crash.mutations", matches = "none")
  void whatIsTakenAwayIsNoticed() throws IOException {
    Mutations mutations = new Mutations();
    Map<String, String> places = mutations.collect(SEEDS);
    Map<String, String> listed = list();
    List<String> wrong = new ArrayList<>();
    for (String place : places.keySet()) {
      if (!listed.containsKey(place)) {
        wrong.add(place + " is not listed: search for a seed");
      }
    }
    for (Map.Entry<String, String> each : listed.entrySet()) {
      String place = each.getKey();
      if (!isWanted(place)) {
        continue;
      }
      String signature = places.get(place);
      if (signature == null) {
        wrong.add(place + " is listed, and is not there: take it out of the list");
      } else if (!each.getValue().startsWith("-")) {
        long seed = Long.parseLong(each.getValue());
        Optional<Mutations.Noticed> noticed = mutations.tryOne(signature, seed, MOST_CUTS);
        if (noticed.isEmpty() && mutations.search(signature, MOST_CUTS).isEmpty()) {
          wrong.add(place + " was taken away, and seed " + seed + " did not find out");
        }
      }
    }
    assertThat(wrong)
        .as("to search for seeds: -Dtest=MutationTest -Dstrata.crash.mutations=%s", MOST_CUTS)
        .isEmpty();
  }

  @Test
  @EnabledIfSystemProperty(named = "strata.crash.mutations", matches = "[0-9]+")
  void search() throws IOException {
    Mutations mutations = new Mutations();
    Map<String, String> places = mutations.collect(SEEDS);
    System.out.println(places.size() + " places");
    Map<String, String> listed = list();
    for (Map.Entry<String, String> each : places.entrySet()) {
      if (!isWanted(each.getKey()) || !listed.getOrDefault(each.getKey(), "-").startsWith("-")) {
        continue;
      }
      Optional<Mutations.Noticed> noticed =
          mutations.search(each.getValue(), Long.getLong("strata.crash.mutations", MOST_CUTS));
      System.out.println(
          each.getKey()
              + " | "
              + noticed
                  .map(n -> n.seed() + " | after " + n.cuts() + " cuts")
                  .orElse("- not noticed"));
    }
  }

  private static boolean isWanted(String place) {
    return place.matches(System.getProperty("strata.crash.places", ".*"));
  }

  private static Map<String, String> list() throws IOException {
    Map<String, String> listed = new TreeMap<>();
    try (InputStream text = Objects.requireNonNull(MutationTest.class.getResourceAsStream(LIST))) {
      for (String line : new String(text.readAllBytes(), StandardCharsets.UTF_8).lines().toList()) {
        String[] parts = line.split(" \\| ", -1);
        if (!line.startsWith("#") && parts.length > 1) {
          listed.put(parts[0], parts[1].trim());
        }
      }
    }
    return listed;
  }
}
