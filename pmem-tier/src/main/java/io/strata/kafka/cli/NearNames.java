package io.strata.kafka.cli;

import io.strata.kafka.config.EditDistance;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Suggests names in place of one that is not there. Stateless. */
final class NearNames {
  /** So many names fit on a line. */
  private static final int SHOWN = 10;

  private NearNames() {}

  /** Returns a phrase with the names that are like the given one, or with those that there are. */
  static String describe(String missing, Collection<String> names) {
    if (names.isEmpty()) {
      return "they have no partition of any topic";
    }
    List<String> near =
        names.stream()
            .filter(name -> isNear(missing, name))
            .sorted(Comparator.comparingInt(name -> EditDistance.between(missing, name)))
            .limit(SHOWN)
            .toList();
    if (!near.isEmpty()) {
      return "near names: " + String.join(", ", near);
    }
    String all = String.join(", ", names.stream().limit(SHOWN).toList());
    int more = names.size() - SHOWN;
    return more > 0 ? "topics: %s and %d more".formatted(all, more) : "topics: " + all;
  }

  private static boolean isNear(String missing, String name) {
    String one = missing.toLowerCase(Locale.ROOT);
    String other = name.toLowerCase(Locale.ROOT);
    return other.contains(one)
        || one.contains(other)
        || EditDistance.between(one, other)
            <= Math.max(1, Math.min(one.length(), other.length()) / 4);
  }
}
