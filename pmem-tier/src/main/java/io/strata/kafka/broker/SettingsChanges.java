package io.strata.kafka.broker;

import io.strata.kafka.config.LiveSettings;
import io.strata.kafka.config.LiveSettings.IgnoredKey;
import io.strata.kafka.config.key.ConfigProblem;
import io.strata.kafka.config.key.ConfigRefusedException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Puts into words what changes of a live broker's settings have done. Not thread-safe. */
final class SettingsChanges {

  private final Set<IgnoredKey> known = new HashSet<>();

  /**
   * The keys without effect that the operator has not been warned of, and has been from now on;
   * empty if there are none. Each is worth one warning for each value, not one with every change of
   * another key.
   */
  Optional<List<String>> newlyIgnored(List<IgnoredKey> ignored) {
    List<String> fresh = ignored.stream().filter(known::add).map(IgnoredKey::toString).toList();
    return fresh.isEmpty() ? Optional.empty() : Optional.of(fresh);
  }

  /**
   * Refuses the values that a change makes wrong.
   *
   * @throws ConfigRefusedException if there are any
   */
  static void refuseNew(LiveSettings.Usable<?> before, LiveSettings.Usable<?> after)
      throws ConfigRefusedException {
    Map<String, String> known =
        before.wrong().stream().collect(Collectors.toMap(IgnoredKey::name, IgnoredKey::value));
    List<ConfigProblem> problems =
        after.wrong().stream()
            .filter(key -> !key.value().equals(known.get(key.name())))
            .flatMap(key -> key.problem().stream())
            .distinct()
            .toList();
    if (!problems.isEmpty()) {
      throw new ConfigRefusedException(problems);
    }
  }

  /** Each key that has changed: {@code key from 'old' to 'new'}. */
  static String between(Map<String, String> before, Map<String, String> after) {
    Set<String> names = new TreeSet<>(before.keySet());
    names.addAll(after.keySet());
    List<String> changes = new ArrayList<>();
    for (String name : names) {
      String from = before.getOrDefault(name, "unset");
      String to = after.getOrDefault(name, "unset");
      if (!from.equals(to)) {
        changes.add("%s from '%s' to '%s'".formatted(name, from, to));
      }
    }
    return String.join(", ", changes);
  }
}
