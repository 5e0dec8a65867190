package io.strata.kafka.config;

import io.strata.kafka.config.key.ConfigProblem;
import io.strata.kafka.migration.plan.MigrationSettings;
import io.strata.kafka.migration.plan.PolicyRegistry;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Checks the policies and their parameters, which the parser of the keys cannot: only a broker's
 * class path shows which policies there are.
 */
public final class PolicyChecks {
  private PolicyChecks() {}

  /**
   * The settings with the parameters of the chosen policy alone: those of others may stay in the
   * configuration, so that the policy can be changed on a live broker.
   */
  public static MigrationSettings ofChosenPolicy(
      MigrationSettings settings, PolicyRegistry policies) {
    return settings.withPolicyParameters(parametersOf(settings.policy(), settings, policies));
  }

  /** Parameters that no policy has, and {@link #refusals}. */
  public static List<ConfigProblem> problems(
      MigrationKeys keys, MigrationSettings settings, PolicyRegistry policies) {
    List<ConfigProblem> problems = unknownParameters(keys, settings, policies);
    problems.addAll(refusals(keys, settings, policies));
    return problems;
  }

  static List<ConfigProblem> unknownParameters(
      MigrationKeys keys, MigrationSettings settings, PolicyRegistry policies) {
    Set<String> known = policies.parameterNames();
    List<ConfigProblem> problems = new ArrayList<>();
    for (String parameter : new TreeSet<>(settings.policyParameters().keySet())) {
      if (!known.contains(parameter)) {
        problems.add(
            ConfigProblem.error(
                keys.policyParameter().with(parameter).name(),
                "a parameter that no policy has",
                known.isEmpty() ? "none" : "one of " + String.join(", ", known),
                "correct it, or remove it"));
      }
    }
    return problems;
  }

  /**
   * Lists what keeps the chosen policy from being made, and the parameters that any other policy
   * refuses: those are there to be chosen later. Empty if there is no such problem.
   */
  static List<ConfigProblem> refusals(
      MigrationKeys keys, MigrationSettings settings, PolicyRegistry policies) {
    if (!policies.names().contains(settings.policy())) {
      return List.of(
          ConfigProblem.error(
              keys.policy().name(),
              "'" + settings.policy() + "'",
              "one of " + String.join(", ", policies.names()),
              "correct it, or put the policy's jar on the broker's class path"));
    }
    List<ConfigProblem> problems = new ArrayList<>();
    for (String policy : policies.names()) {
      Map<String, String> own = parametersOf(policy, settings, policies);
      if (policy.equals(settings.policy()) || !own.isEmpty()) {
        refusal(keys, policy, own, policies).ifPresent(problems::add);
      }
    }
    return problems;
  }

  private static Optional<ConfigProblem> refusal(
      MigrationKeys keys, String policy, Map<String, String> parameters, PolicyRegistry policies) {
    try {
      var unused = policies.create(policy, parameters);
      return Optional.empty();
    } catch (RuntimeException e) {
      return Optional.of(
          ConfigProblem.error(
              keys.policy().name(),
              "parameters that policy '%s' refuses (%s)"
                  .formatted(policy, Optional.ofNullable(e.getMessage()).orElse(e.toString())),
              "values that it takes",
              "correct them"));
    }
  }

  private static Map<String, String> parametersOf(
      String policy, MigrationSettings settings, PolicyRegistry policies) {
    Map<String, String> parameters = new LinkedHashMap<>(settings.policyParameters());
    parameters.keySet().retainAll(policies.parameterNames(policy));
    return parameters;
  }
}
