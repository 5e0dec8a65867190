package io.strata.kafka.broker;

import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.CommandLineArguments;
import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.config.key.ConfigProblem;
import io.strata.kafka.config.key.ConfigRefusedException;
import io.strata.kafka.memory.calls.LibC;
import io.strata.kafka.metrics.EventCounters;
import io.strata.kafka.metrics.LocalSample;
import io.strata.kafka.metrics.MigrationLog;
import io.strata.kafka.metrics.TierLog;
import io.strata.kafka.migration.plan.PolicyRegistry;
import io.strata.kafka.tier.HotTier;
import io.strata.kafka.tier.spec.TestHook;
import io.strata.kafka.tier.spec.TierSpec;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A broker's tier, opened from what the JVM's command line names, with what belongs to it for as
 * long as the process lives: metrics and the migration engine.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
public final class BrokerTier {

  private final HotTier tier;
  private final BrokerProperties properties;
  private final Optional<BrokerMigration> migration;
  private volatile boolean confirmed;

  private BrokerTier(
      HotTier tier, BrokerProperties properties, Optional<BrokerMigration> migration) {
    this.tier = tier;
    this.properties = properties;
    this.migration = migration;
  }

  public HotTier tier() {
    return tier;
  }

  public BrokerProperties properties() {
    return properties;
  }

  public Optional<BrokerMigration> migration() {
    return migration;
  }

  /** Notes that the reporter has found broker and tier in agreement. */
  public void confirm() {
    confirmed = true;
  }

  /** Warns where Strata was not tested with this version of Kafka. */
  public void noteKafka(String version) {
    KafkaVersions.untested(version).ifPresent(new TierLog()::warning);
  }

  /** Returns whether {@link #confirm} was called: the broker is past the start, or well into it. */
  public boolean confirmed() {
    return confirmed;
  }

  /** The configuration that a broker's command line names. */
  static BrokerProperties propertiesOf(CommandLineArguments commandLine) throws IOException {
    return commandLine
        .load()
        .orElseThrow(
            () ->
                new IOException(
                    """
                    Strata's file system provider is active in a broker, and no properties file \
                    was found on the command line '%s %s': name it with -D%s=<server.properties>, \
                    or start the broker without -Djava.nio.file.spi.DefaultFileSystemProvider\
                    """
                        .formatted(
                            commandLine.mainClass(),
                            String.join(" ", commandLine.arguments()),
                            CommandLineArguments.CONFIG_PROPERTY)));
  }

  static BrokerTier open(BrokerProperties broker) throws IOException {
    TierLog log = new TierLog();
    // First: an old jar may refuse a new key.
    ClassCopies.severalJars().ifPresent(log::warning);
    Optional<Pattern> forced = TestHook.placement();
    // Kafka's own tests are no broker: what a broker's other keys must say does not matter there.
    StrataConfig config =
        orRefuse(
            broker,
            () ->
                forced.isPresent() ? broker.strataConfig().orElseThrow() : broker.checkedConfig());
    if (forced.isEmpty()) {
      broker.check().stream()
          .filter(problem -> !problem.isError())
          .map(ConfigProblem::message)
          .forEach(log::warning);
    }
    LibC.missing().ifPresent(log::warning);
    // Kafka's own tests are to see segments where they were placed. Before a pool is opened: a
    // policy that is not there is found without touching anything.
    Optional<PolicyRegistry> policies =
        forced.isPresent()
            ? Optional.empty()
            : Optional.of(orRefuse(broker, () -> BrokerMigration.policies(config)));
    EventCounters counters = new EventCounters();
    TierSpec spec = TierSpecs.of(config, broker, forced);
    HotTier tier = HotTier.start(spec, log, counters);
    TestHook.opened(() -> tier.counts().placements().sum());
    Optional<BrokerMigration> migration =
        policies.map(
            known ->
                BrokerMigration.start(
                    tier.tieredSegments(),
                    broker,
                    config,
                    known,
                    new MigrationLog(config.tierNames()),
                    tier::reconfigure));
    StrataRuntime.metrics()
        .local(
            broker.nodeId().isPresent() ? String.valueOf(broker.nodeId().getAsInt()) : "",
            () -> LocalSample.of(tier, migration.map(BrokerMigration::stats), counters),
            () -> migration.map(BrokerMigration::settings).orElse(Map.of()));
    BrokerTier opened = new BrokerTier(tier, broker, migration);
    opened.stopAtExit();
    return opened;
  }

  private interface Reading<T> {
    T read() throws ConfigRefusedException;
  }

  /** Returns what was read; a refusal names the file. */
  private static <T> T orRefuse(BrokerProperties broker, Reading<T> reading) throws IOException {
    try {
      return reading.read();
    } catch (ConfigRefusedException e) {
      throw new IOException(broker.source() + ": " + e.getMessage(), e);
    }
  }

  /**
   * Stops the engine as soon as the JVM begins to go down. Kafka's own shutdown begins at the same
   * moment and closes its logs at its end, before it closes its reporters: the reporter's close
   * would be too late.
   */
  private void stopAtExit() {
    Runnable stop = () -> migration.ifPresent(BrokerMigration::close);
    Runtime.getRuntime().addShutdownHook(new Thread(stop, "strata-migration-stop"));
  }
}
