package io.strata.kafka.migration;

import io.strata.kafka.api.MigrationPolicyProvider;
import java.util.List;

/** The policies that come with Strata. Thread safety: stateless. */
final class BuiltInPolicies {

  private BuiltInPolicies() {}

  static List<MigrationPolicyProvider> all() {
    return List.of();
  }
}
