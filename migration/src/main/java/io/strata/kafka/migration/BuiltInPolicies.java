package io.strata.kafka.migration;

import io.strata.kafka.api.MigrationPolicy;
import io.strata.kafka.api.MigrationPolicyProvider;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/** The policies that come with Strata. Thread safety: stateless. */
final class BuiltInPolicies {

  private BuiltInPolicies() {}

  private record BuiltIn(
      String name, Set<String> parameters, Function<Map<String, String>, MigrationPolicy> maker)
      implements MigrationPolicyProvider {

    @Override
    public MigrationPolicy create(Map<String, String> values) {
      return maker.apply(values);
    }
  }

  static List<MigrationPolicyProvider> all() {
    return List.of(
        new BuiltIn(NewestPolicy.NAME, Set.of(), values -> new NewestPolicy()),
        new BuiltIn(AgePolicy.NAME, Set.of(AgePolicy.AFTER), AgePolicy::new),
        new BuiltIn(AccessPolicy.NAME, Set.of(AccessPolicy.READ_SHARE), AccessPolicy::new));
  }
}
