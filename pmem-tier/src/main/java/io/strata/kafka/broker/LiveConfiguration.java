package io.strata.kafka.broker;

import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.key.ConfigProblem;
import io.strata.kafka.config.key.ConfigRefusedException;
import io.strata.kafka.unpublished.ConfigurationCall;
import io.strata.kafka.unpublished.StoredConfiguration;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Takes what Kafka hands to one reporter of the broker's dynamic configuration to the local tiers
 * and to the remote tier. A stored value is never refused: Kafka would drop everything else that is
 * stored at that level, the retention included.
 *
 * <p>Not final: a test has one that fails. Thread safety: all methods may be called by any thread.
 */
public class LiveConfiguration {

  private static final String PREALLOCATE = "log.preallocate";

  private final StoredValues stored;
  private final RemoteChanges remote;
  private volatile Map<String, Object> last = Map.of();

  LiveConfiguration(StoredValues stored, RemoteChanges remote) {
    this.stored = stored;
    this.remote = remote;
  }

  public static LiveConfiguration ofThisProcess() {
    return new LiveConfiguration(StrataRuntime.storedValues(), StrataRuntime.remoteChanges());
  }

  /** All names that Kafka has to ask about. */
  public Set<String> names(Optional<BrokerMigration> migration) {
    Set<String> names = new LinkedHashSet<>(remote.names());
    migration.ifPresent(
        local -> {
          names.addAll(local.live().names());
          names.add(PREALLOCATE);
        });
    return names;
  }

  /** Checks a change that an operator asks for, by all keys and values with the change. */
  public void validate(Optional<BrokerMigration> migration, Map<String, ?> configs)
      throws ConfigRefusedException {
    if (ConfigurationCall.current() != ConfigurationCall.VALIDATION) {
      return; // It is stored.
    }
    Map<String, Object> before = last;
    List<ConfigProblem> problems = new ArrayList<>();
    if (migration.isPresent()) {
      problemsOf(() -> migration.get().live().validate(before, configs), problems);
    }
    problemsOf(() -> remote.validate(before, configs), problems);
    if (!problems.isEmpty()) {
      throw new ConfigRefusedException(problems);
    }
  }

  private interface Check {
    void make() throws ConfigRefusedException;
  }

  private static void problemsOf(Check check, List<ConfigProblem> problems) {
    try {
      check.make();
    } catch (ConfigRefusedException e) {
      problems.addAll(e.problems());
    }
  }

  /**
   * Works by what is stored. A value that cannot be used is left out, warned of, and a reason for
   * the broker's health.
   *
   * @param configs all keys and values
   */
  public void apply(Optional<BrokerMigration> migration, Map<String, ?> configs) {
    apply(migration, configs, ConfigurationCall.current());
  }

  private void apply(
      Optional<BrokerMigration> migration, Map<String, ?> configs, ConfigurationCall call) {
    stored.handedOver(configs, call);
    last = new HashMap<>(configs);
    migration.ifPresent(
        local -> {
          apply(
              StoredValues.Part.LOCAL,
              () -> stored.wrong(StoredValues.Part.LOCAL, local.reconfigure(configs)));
          stored.note(StoredValues.Part.BROKER, preallocation(configs));
        });
    apply(StoredValues.Part.REMOTE, () -> remote.reconfigure(configs));
  }

  /** The fault of one part, a policy's for example, does not keep the others from the change. */
  private void apply(StoredValues.Part part, Runnable change) {
    try {
      change.run();
    } catch (Throwable e) { // An Error too: Kafka would drop the whole level.
      stored.failed(part, e);
    }
  }

  /**
   * Notes that Kafka has closed the reporter. On its way down Kafka has closed its logs by now: the
   * log files' modification times are brought up to date, and the next start refuses what was
   * copied before. On a broker that goes on, the reporter was taken out of the configuration; the
   * tier goes on too, since the pools have the records.
   *
   * @param removed whether the reporter was taken out of the configuration
   */
  public void closed(Optional<BrokerTier> broker, boolean removed) {
    broker.ifPresent(
        opened -> {
          opened.tier().refreshModificationTimes();
          if (removed) {
            opened.migration().ifPresent(BrokerMigration::reporterRemoved);
            keepInForce(StoredValues.Part.LOCAL, opened.properties(), opened.migration());
          } else {
            opened.tier().noteEnd();
          }
        });
  }

  /**
   * Does as {@link #closed(Optional, boolean)}, for a broker with the remote tier alone, whose
   * reporter was taken out of the configuration.
   *
   * @param file the keys and values that it was started with
   */
  public void closed(BrokerProperties file) {
    keepInForce(StoredValues.Part.REMOTE, file, Optional.empty());
  }

  /**
   * Works by what is stored though Kafka hands over nothing any more. After a start it may have
   * handed over nothing at all: what takes the reporter out is stored beside the rest.
   */
  private void keepInForce(
      StoredValues.Part part, BrokerProperties file, Optional<BrokerMigration> migration) {
    apply(
        part,
        () -> {
          try {
            StoredConfiguration read =
                StoredConfiguration.read(JdkFileSystem.path(file.metadataLogDir()));
            Map<String, String> configs = new HashMap<>(file.asMap());
            configs.putAll(read.ofAllBrokers());
            stored.handedOver(configs, ConfigurationCall.CLUSTER_DEFAULT);
            file.nodeId().ifPresent(id -> configs.putAll(read.ofBroker(id)));
            apply(migration, configs, ConfigurationCall.BROKER);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  private static List<String> preallocation(Map<String, ?> configs) {
    return "true".equalsIgnoreCase(String.valueOf(configs.get(PREALLOCATE)))
        ? List.of(
            """
            log.preallocate=true is set on the live broker: Kafka creates new segments past \
            Strata, and none of them is in a pool. Remove it with kafka-configs.sh --delete-config \
            log.preallocate\
            """)
        : List.of();
  }
}
