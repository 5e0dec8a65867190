package io.strata.kafka.cli.doctor;

import io.strata.kafka.cli.status.Surroundings;
import io.strata.kafka.cli.terminal.Failures;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.LiveSettings;
import io.strata.kafka.config.MigrationKeys;
import io.strata.kafka.config.RemoteConfig;
import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.config.key.IgnoredKey;
import io.strata.kafka.migration.plan.PolicyRegistry;
import io.strata.kafka.unpublished.StoredConfiguration;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Looks at what is stored of the broker's dynamic configuration, in its own copy of the cluster's
 * metadata. Policies and their parameters are left to the broker: they depend on its class path.
 */
final class StoredCheck extends DoctorCheck {

  private static final String WHAT = "stored configuration";
  private static final String REPORTERS = "metric.reporters";

  private final Optional<StrataConfig> local;

  StoredCheck(
      Surroundings surroundings,
      BrokerProperties broker,
      Optional<StrataConfig> local,
      OptionalLong process) {
    super(surroundings, broker, process);
    this.local = local;
  }

  @Override
  List<Diagnosis> run() {
    if (!StoredConfiguration.isIn(broker.metadataLogDir())) {
      return found; // A new broker.
    }
    try {
      StoredConfiguration stored = StoredConfiguration.read(broker.metadataLogDir());
      Map<String, String> own =
          broker.nodeId().isPresent() ? stored.ofBroker(broker.nodeId().getAsInt()) : Map.of();
      Map<String, String> all = new HashMap<>(broker.asMap());
      all.putAll(stored.ofAllBrokers());
      all.putAll(own);
      check(all, own);
    } catch (IOException e) {
      warn(
          WHAT,
          "could not be read (%s)".formatted(Failures.reasonOf(e)),
          "look at the broker's log");
    }
    return found;
  }

  private void check(Map<String, String> all, Map<String, String> own) {
    for (IgnoredKey key : wrong(all)) {
      wrong(
          own,
          key.name(),
          "%s=%s cannot be used and is left out: %s"
              .formatted(key.name(), key.value(), key.reason()));
    }
    BrokerProperties stored = BrokerProperties.of(WHAT, all);
    if (stored.logPreallocate() && !broker.logPreallocate()) {
      wrong(own, "log.preallocate", "log.preallocate=true: no new segment is in a pool");
    }
    if (broker.namesReporter() && !stored.namesReporter()) {
      wrong(own, REPORTERS, "metric.reporters is without Strata's: changes are not checked");
    }
    if (found.isEmpty()) {
      ok(WHAT, "nothing in it is left out");
    }
  }

  private void wrong(Map<String, String> own, String key, String text) {
    String level = "--entity-default";
    if (own.containsKey(key)) {
      level = "--entity-name " + broker.nodeId().orElse(0);
    }
    warn(
        WHAT,
        text,
        "kafka-configs.sh --bootstrap-server <broker> --alter --entity-type brokers %s --delete-config %s"
            .formatted(level, key));
  }

  private List<IgnoredKey> wrong(Map<String, String> all) {
    PolicyRegistry policies = PolicyRegistry.builtIn();
    List<IgnoredKey> wrong = new ArrayList<>();
    try {
      local.ifPresent(
          config -> wrong.addAll(LiveSettings.local(broker, config, policies).read(all).wrong()));
      if (RemoteConfig.hasUsualPrefix(Optional.of(broker)) && broker.hasOwnManager()) {
        RemoteConfig.parse(broker)
            .config()
            .ifPresent(
                settings ->
                    wrong.addAll(
                        LiveSettings.remote(broker.asMap(), true, settings, policies)
                            .read(all)
                            .wrong()));
      }
    } catch (IllegalStateException e) {
      return List.of(); // The file's policy is on the broker's class path alone.
    }
    wrong.removeIf(key -> MigrationKeys.isOfPolicy(key.name()));
    return wrong;
  }
}
