package io.strata.kafka.api;

import java.util.Map;
import java.util.Set;

/**
 * Makes a policy from its parameters; found by {@link java.util.ServiceLoader} on the broker's
 * class path.
 *
 * <p>Needs a public constructor without arguments. Thread safety: called by one thread at a time.
 */
public interface MigrationPolicyProvider {

  /**
   * Returns the value of {@code strata.migration.policy} that selects it: lower-case letters,
   * digits and hyphens. Two providers of one name are refused when the broker starts.
   */
  String name();

  /**
   * The parameters' names. The value of {@code strata.migration.policy.<name>} reaches {@link
   * #create} under {@code <name>}; a key with any other name is refused.
   */
  default Set<String> parameters() {
    return Set.of();
  }

  /**
   * Makes a policy. Called when the broker starts, and again when a parameter is changed on a live
   * broker: the new policy takes the place of the old one between two rounds.
   *
   * @param parameters the values that were set, by name; only names of {@link #parameters}
   * @throws IllegalArgumentException if a value cannot be used; the message names the parameter,
   *     what was found and what is expected. The broker does not start, or keeps what it had
   */
  MigrationPolicy create(Map<String, String> parameters);
}
