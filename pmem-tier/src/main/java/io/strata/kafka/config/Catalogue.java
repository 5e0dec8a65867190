package io.strata.kafka.config;

import io.strata.kafka.config.key.StrataKey;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The keys of one side, the local tiers' or the remote tier's, in the order of the reference page.
 *
 * @param policyParameter the one whose placeholder stands for a policy's parameter; those of the
 *     others stand for a tier or a level
 */
public record Catalogue(List<StrataKey<?>> keys, StrataKey<?> policyParameter) {

  /** Copies the list. */
  public Catalogue {
    keys = List.copyOf(keys);
  }

  static Catalogue of(List<StrataKey<?>> own, MigrationKeys migration) {
    return new Catalogue(
        Stream.concat(own.stream(), migration.all().stream()).toList(),
        migration.policyParameter());
  }

  /** The key of that name; one with a placeholder for each name that fits it. */
  public Optional<StrataKey<?>> find(String name) {
    for (StrataKey<?> key : keys) {
      if (key.matches(name)) {
        return Optional.of(key);
      }
    }
    return Optional.empty();
  }

  /**
   * The names that {@code kafka-configs.sh} may change on a live broker, those with a placeholder
   * written out.
   */
  public Set<String> dynamicNames(List<String> tiers, Set<String> policyParameters) {
    return names(true, tiers, policyParameters);
  }

  /** The names of the keys that need a restart, those with a placeholder written out. */
  Set<String> fixedNames(List<String> tiers) {
    return names(false, tiers, Set.of());
  }

  private Set<String> names(boolean dynamic, List<String> tiers, Set<String> policyParameters) {
    Set<String> names = new LinkedHashSet<>();
    for (StrataKey<?> key : keys) {
      if (key.dynamic() != dynamic) {
        continue;
      }
      if (!key.patterned()) {
        names.add(key.name());
      } else {
        (key.equals(policyParameter) ? policyParameters : tiers)
            .forEach(part -> names.add(key.with(part).name()));
      }
    }
    return names;
  }
}
