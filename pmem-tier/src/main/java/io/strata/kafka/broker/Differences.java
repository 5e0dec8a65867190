package io.strata.kafka.broker;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Tells what a change of settings has changed. Thread safety: stateless. */
final class Differences {
  private Differences() {}

  /** Each key that has changed: {@code key from 'old' to 'new'}. */
  static String between(Map<String, String> before, Map<String, String> after) {
    Set<String> names = new TreeSet<>(before.keySet());
    names.addAll(after.keySet());
    List<String> changes = new ArrayList<>();
    for (String name : names) {
      String from = before.getOrDefault(name, "unset");
      String to = after.getOrDefault(name, "unset");
      if (!from.equals(to)) {
        changes.add(name + " from '" + from + "' to '" + to + "'");
      }
    }
    return String.join(", ", changes);
  }
}
