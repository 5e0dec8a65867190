package io.strata.kafka.broker;

import io.strata.kafka.api.MigrationListener;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.ConfigProblem;
import io.strata.kafka.config.ConfigRefusedException;
import io.strata.kafka.config.LiveSettings;
import io.strata.kafka.config.MigrationKeys;
import io.strata.kafka.config.PolicyChecks;
import io.strata.kafka.config.SpillForce;
import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.config.StrataKeys;
import io.strata.kafka.metrics.MigrationLog;
import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.MigrationEngine;
import io.strata.kafka.migration.MigrationSettings;
import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.migration.PolicyRegistry;
import io.strata.kafka.migration.TieredSegments;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.function.Consumer;

/**
 * The migration engine of a broker, with what Kafka and operators may change of it while it runs.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
public final class BrokerMigration implements AutoCloseable {

  private final LiveSettings live;
  private final MigrationEngine engine;
  private final MigrationLog log;
  private final Consumer<SpillForce> spillForceChanged;

  private volatile SpillForce spillForce;

  private BrokerMigration(
      LiveSettings live,
      MigrationEngine engine,
      MigrationLog log,
      SpillForce spillForce,
      Consumer<SpillForce> spillForceChanged) {
    this.live = live;
    this.engine = engine;
    this.log = log;
    this.spillForce = spillForce;
    this.spillForceChanged = spillForceChanged;
  }

  /**
   * Checks the configuration's policy against the class path; has no effect.
   *
   * @throws ConfigRefusedException if there is no such policy, or it refuses its parameters
   */
  static PolicyRegistry policies(StrataConfig config) throws ConfigRefusedException {
    PolicyRegistry policies = loadPolicies("strata.migration.policy");
    List<ConfigProblem> problems =
        new ArrayList<>(
            PolicyChecks.unknownParameters(MigrationKeys.LOCAL, config.migration(), policies));
    problems.addAll(PolicyChecks.refusals(MigrationKeys.LOCAL, config.migration(), policies));
    if (!problems.isEmpty()) {
      throw new ConfigRefusedException(problems);
    }
    return policies;
  }

  /**
   * The policies of the class path.
   *
   * @param key the key that chooses one of them
   * @throws ConfigRefusedException if there is a provider among them that does not work
   */
  static PolicyRegistry loadPolicies(String key) throws ConfigRefusedException {
    try {
      return PolicyRegistry.load(BrokerMigration.class.getClassLoader());
    } catch (IllegalArgumentException e) {
      throw new ConfigRefusedException(
          List.of(
              ConfigProblem.error(
                  key,
                  "a class path on which " + e.getMessage(),
                  "providers of policies that work, each with a name of its own",
                  "take that jar off the broker's class path, or correct it")));
    }
  }

  /**
   * Starts an engine.
   *
   * @param segments what it moves
   * @param policies those of the class path, as {@link #policies} has checked them
   * @param spillForceChanged hears of each change of {@code strata.spill.force}
   */
  static BrokerMigration start(
      TieredSegments segments,
      BrokerProperties broker,
      StrataConfig config,
      PolicyRegistry policies,
      MigrationLog log,
      Consumer<SpillForce> spillForceChanged) {
    List<MigrationListener> listeners = new ArrayList<>(List.of(log));
    listeners.addAll(others(log));
    MigrationEngine engine =
        new MigrationEngine(
            segments,
            PolicyChecks.ofChosenPolicy(config.migration(), policies),
            policies,
            listeners,
            log,
            EngineEnvironment.system());
    engine.start();
    return new BrokerMigration(
        new LiveSettings(broker, config, policies),
        engine,
        log,
        config.spillForce(),
        spillForceChanged);
  }

  /** A listener that cannot be made is no reason to keep a broker from starting. */
  private static List<MigrationListener> others(MigrationLog log) {
    List<MigrationListener> found = new ArrayList<>();
    try {
      ServiceLoader.load(MigrationListener.class, BrokerMigration.class.getClassLoader())
          .forEach(found::add);
    } catch (ServiceConfigurationError e) {
      log.warning("A migration listener on the class path is left out: " + e.getMessage());
    }
    return found;
  }

  /** The names of the keys that Kafka has to ask about, and whether each may be changed. */
  public LiveSettings live() {
    return live;
  }

  /**
   * Checks a new configuration without any effect.
   *
   * @param configs all keys and values, as Kafka gives them
   * @throws ConfigRefusedException if it cannot be used
   */
  public void validate(Map<String, ?> configs) throws ConfigRefusedException {
    var unused = settings(live.read(configs));
  }

  private MigrationSettings settings(LiveSettings.Outcome outcome) throws ConfigRefusedException {
    if (outcome.settings().isEmpty()) {
      throw new ConfigRefusedException(outcome.problems());
    }
    MigrationSettings settings = outcome.settings().get();
    try {
      engine.validate(settings);
    } catch (IllegalArgumentException e) {
      throw new ConfigRefusedException(
          List.of(
              ConfigProblem.error(
                  "strata.migration",
                  Optional.ofNullable(e.getMessage()).orElse(e.toString()),
                  "settings that the engine can use",
                  "correct them")));
    }
    return settings;
  }

  /**
   * Works by a new configuration from the next planning round on.
   *
   * @param configs all keys and values, as Kafka gives them
   * @throws ConfigRefusedException if it cannot be used; the old one stays
   */
  public synchronized void reconfigure(Map<String, ?> configs) throws ConfigRefusedException {
    LiveSettings.Outcome outcome = live.read(configs);
    MigrationSettings settings = settings(outcome);
    Map<String, String> before = settings();
    if (!outcome.ignored().isEmpty()) {
      log.ignored(outcome.ignored());
    }
    if (!settings.equals(engine.settings())) {
      engine.reconfigure(settings);
    }
    SpillForce changed = outcome.spillForce().orElseThrow();
    if (changed != spillForce) {
      spillForce = changed;
      spillForceChanged.accept(changed);
    }
    if (!settings().equals(before)) {
      log.reconfigured(Differences.between(before, settings()));
    }
  }

  /** What the engine has done and is doing. */
  public MigrationStats stats() {
    return engine.stats();
  }

  /** What it works by, as the keys would be written. */
  public Map<String, String> settings() {
    Map<String, String> written =
        new LinkedHashMap<>(MigrationKeys.LOCAL.written(engine.settings(), live.tiers()));
    written.put(StrataKeys.SPILL_FORCE.name(), spillForce.configName());
    return written;
  }

  /** Tells the operator that nobody can change a live broker's settings any more. */
  public void reporterRemoved() {
    log.warning(
        "io.strata.kafka.StrataReporter was taken out of metric.reporters on the live broker. Its"
            + " tiers work on as they are set; strata.* keys cannot be changed any more, and"
            + " nothing keeps the broker from a start without Strata's provider, which would"
            + " truncate what is in the pools: put it back.");
  }

  /** Stops the engine and waits ten seconds for its threads; without effect when stopped. */
  @Override
  public void close() {
    engine.close();
  }
}
