package io.strata.kafka.broker;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.api.MigrationListener;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.LiveSettings;
import io.strata.kafka.config.LiveSettings.IgnoredKey;
import io.strata.kafka.config.MigrationKeys;
import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.config.key.ConfigProblem;
import io.strata.kafka.config.key.ConfigRefusedException;
import io.strata.kafka.metrics.MigrationLog;
import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.MigrationEngine;
import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.migration.plan.PolicyRegistry;
import io.strata.kafka.migration.plan.TieredSegments;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The migration engine of a broker, with what Kafka and operators may change of it while it runs.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
public final class BrokerMigration implements AutoCloseable {
  /** So many listeners that cannot be made are enough to know of. */
  private static final int MOST_FAILED = 100;

  private final LiveSettings<StrataConfig> live;
  private final MigrationEngine engine;
  private final MigrationLog log;
  private final Consumer<StrataConfig> changed;

  @GuardedBy("this")
  private final Set<IgnoredKey> known = new HashSet<>();

  private volatile StrataConfig current;

  private BrokerMigration(
      LiveSettings<StrataConfig> live,
      MigrationEngine engine,
      MigrationLog log,
      StrataConfig current,
      Consumer<StrataConfig> changed) {
    this.live = live;
    this.engine = engine;
    this.log = log;
    this.current = current;
    this.changed = changed;
  }

  /** Checks the configuration's policy and its parameters against the class path. */
  static PolicyRegistry policies(StrataConfig config) throws ConfigRefusedException {
    PolicyRegistry policies = loadPolicies(MigrationKeys.LOCAL);
    List<ConfigProblem> problems = MigrationKeys.LOCAL.problems(config.migration(), policies);
    if (!problems.isEmpty()) {
      throw new ConfigRefusedException(problems);
    }
    return policies;
  }

  /** The policies of the class path; refused, by the engine's keys, if one does not work. */
  static PolicyRegistry loadPolicies(MigrationKeys keys) throws ConfigRefusedException {
    try {
      return PolicyRegistry.load(BrokerMigration.class.getClassLoader());
    } catch (IllegalArgumentException e) {
      throw new ConfigRefusedException(
          List.of(
              ConfigProblem.error(
                  keys.policy().name(),
                  "a class path on which " + e.getMessage(),
                  "providers of policies that work, each with its own name",
                  "take that jar off the broker's class path, or correct it")));
    }
  }

  /**
   * Starts an engine.
   *
   * @param segments what it moves
   * @param policies those of the class path, as {@link #policies} has checked them
   * @param changed called with each change of what the operator may change, before it takes effect
   */
  static BrokerMigration start(
      TieredSegments segments,
      BrokerProperties broker,
      StrataConfig config,
      PolicyRegistry policies,
      MigrationLog log,
      Consumer<StrataConfig> changed) {
    List<MigrationListener> listeners = listeners(log);
    MigrationEngine engine =
        new MigrationEngine(
            segments, config.migration(), policies, listeners, log, EngineEnvironment.system());
    engine.start();
    return new BrokerMigration(
        LiveSettings.local(broker, config, policies), engine, log, config, changed);
  }

  private static List<MigrationListener> listeners(MigrationLog log) {
    List<MigrationListener> found = new ArrayList<>(List.of(log));
    found.addAll(listeners(BrokerMigration.class.getClassLoader(), log::warning));
    return found;
  }

  /** Finds the listeners; one that cannot be made is no reason to keep a broker from starting. */
  static List<MigrationListener> listeners(ClassLoader loader, Consumer<String> warnings) {
    List<MigrationListener> found = new ArrayList<>();
    Iterator<MigrationListener> all =
        ServiceLoader.load(MigrationListener.class, loader).iterator();
    boolean more = true;
    for (int failed = 0; more && failed < MOST_FAILED; ) {
      try {
        more = all.hasNext();
        if (more) {
          found.add(all.next());
        }
      } catch (ServiceConfigurationError | LinkageError e) {
        failed++;
        warnings.accept("A migration listener on the class path is left out: " + e);
      }
    }
    return found;
  }

  /** The names of the keys that Kafka has to ask about, and whether each may be changed. */
  public LiveSettings<StrataConfig> live() {
    return live;
  }

  /** Works by all keys that Kafka gives from the next round on; returns those with wrong values. */
  public synchronized List<IgnoredKey> reconfigure(Map<String, ?> configs) {
    LiveSettings.Usable<StrataConfig> read = live.read(configs);
    StrataConfig settings = read.settings();
    engine.validate(settings.migration());
    List<String> useless = read.newlyUseless(known);
    if (!useless.isEmpty()) {
      log.ignored(useless);
    }
    StrataConfig before = current;
    if (!settings.equals(before)) {
      changed.accept(settings);
      // Also if its own settings are the same: which topics may be in a pool is planned by too.
      engine.reconfigure(settings.migration());
      current = settings;
      log.reconfigured(live.difference(before, settings));
    }
    return read.wrong();
  }

  public MigrationStats stats() {
    return engine.stats();
  }

  /** Returns the settings in use, as the keys would be written. */
  public Map<String, String> settings() {
    return live.written(current);
  }

  /** Warns the operator that a live broker's settings can no longer be changed. */
  public void reporterRemoved() {
    log.warning(
        """
        io.strata.kafka.StrataReporter is not in metric.reporters as it is stored for the live \
        broker. Its tiers go on by what is stored of strata.* keys, but changes reach them at the \
        next start alone, and are stored unchecked: take metric.reporters back with \
        kafka-configs.sh --delete-config metric.reporters, or put the reporter in.\
        """);
  }

  /** Stops the engine and waits ten seconds for its threads; without effect when stopped. */
  @Override
  public void close() {
    engine.close();
  }
}
