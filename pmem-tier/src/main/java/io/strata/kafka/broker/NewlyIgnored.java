package io.strata.kafka.broker;

import io.strata.kafka.config.IgnoredKey;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Which of the keys that have no effect the operator has not been warned of: each is worth one
 * warning for each value, not one with every change of another key.
 *
 * <p>Not thread-safe.
 */
final class NewlyIgnored {

  private final Set<IgnoredKey> known = new HashSet<>();

  /** Those that are new, and are known from now on; empty if there are none. */
  Optional<List<String>> of(List<IgnoredKey> ignored) {
    List<String> fresh = ignored.stream().filter(known::add).map(IgnoredKey::toString).toList();
    return fresh.isEmpty() ? Optional.empty() : Optional.of(fresh);
  }
}
