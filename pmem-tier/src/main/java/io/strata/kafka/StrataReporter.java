package io.strata.kafka;

import io.strata.kafka.broker.BrokerMigration;
import io.strata.kafka.broker.BrokerTier;
import io.strata.kafka.broker.ClassCopies;
import io.strata.kafka.broker.JdkFileSystem;
import io.strata.kafka.broker.LiveConfiguration;
import io.strata.kafka.broker.StrataRuntime;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.CommandLineArguments;
import io.strata.kafka.config.key.ConfigProblem;
import io.strata.kafka.config.key.ConfigRefusedException;
import io.strata.kafka.metrics.TierLog;
import io.strata.kafka.unpublished.KafkaRelease;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.Reconfigurable;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricsReporter;
import org.jspecify.annotations.Nullable;

/**
 * The second half of the hook: listed in {@code metric.reporters}, it keeps the broker from
 * starting without the first half, the file system provider. The metrics are published with the
 * tier.
 *
 * <p>A broker without the provider would see holes where the pool has the bytes, and truncate them
 * away. Kafka creates its reporters before it loads a topic's log (a node that is broker and
 * controller creates two of them), so that a refusal here comes in time.
 *
 * <p>On a live broker it is the way in for {@code kafka-configs.sh --alter --entity-type brokers}:
 * Kafka asks it about changes of {@code strata.*} keys, and hands them over.
 *
 * <p>A broker that has the remote tier alone needs no provider, and takes changes of {@code
 * rsm.config.*} keys by it. On a node that is only a controller it does nothing.
 *
 * <p>Thread safety: as Kafka calls it, by one thread at a time.
 */
public final class StrataReporter implements MetricsReporter {

  private final LiveConfiguration live;

  private @Nullable BrokerTier broker;

  /** The keys and values that a broker with the remote tier alone was started with. */
  private Optional<BrokerProperties> remoteAlone = Optional.empty();

  /** For Kafka, by reflection. */
  public StrataReporter() {
    this(LiveConfiguration.ofThisProcess());
  }

  StrataReporter(LiveConfiguration live) {
    this.live = live;
  }

  /**
   * Opens the local tiers, if nothing has opened them yet and the broker has any.
   *
   * <p>A broker that must not start ends here, with the reason as the last thing on its log: the
   * provider is not active, the tier cannot be opened, or Kafka has another configuration. On a
   * live broker Kafka goes on without this reporter, and the log says why.
   *
   * @throws ConfigException in any other JVM that is starting, for the same reasons
   */
  @Override
  public void configure(Map<String, ?> configs) {
    try {
      start(configs);
    } catch (Throwable e) { // An Error too, of a class that Kafka has moved for example.
      if (isConfirmed() || isReconfiguring() || isStoredAlone()) {
        warn("Strata's reporter does nothing on this broker: ", e);
        return;
      }
      // Not by an exception: Kafka has its log manager and has loaded no log, and its shutdown
      // would write empty checkpoints over those of the log directories.
      StrataRuntime.refuseStart(e);
      if (e instanceof ConfigException refused) {
        throw refused;
      }
      ConfigException unforeseen = new ConfigException("Strata's reporter failed: " + e);
      unforeseen.initCause(e);
      throw unforeseen;
    }
  }

  private void start(Map<String, ?> configs) {
    BrokerProperties properties = propertiesOf(configs);
    if (properties.isControllerAlone()) {
      return; // Clusters are configured as a whole; there is nothing here for a pool.
    }
    requireOneClassLoader();
    if (!JdkFileSystem.providerActive() && properties.hasRemoteTierAlone()) {
      remoteAlone = Optional.of(properties);
      reconfigure(configs);
      return;
    }
    requireProvider();
    BrokerTier opened = openTier();
    if (!opened.confirmed()) {
      requireSameConfiguration(configs, opened);
      KafkaRelease.version().ifPresent(opened::noteKafka);
    }
    broker = opened;
    // Kafka also makes a reporter on a live broker, when metric.reporters is changed: what it
    // hands over then has dynamic values in it.
    reconfigure(configs);
    opened.confirm();
  }

  private boolean isConfirmed() {
    BrokerTier opened = broker;
    return opened != null && opened.confirmed();
  }

  /** Writes into the broker's log what must not reach Kafka. */
  private static void warn(String what, Throwable reason) {
    try {
      new TierLog().failed(what, reason);
    } catch (Throwable e) {
      // There is nothing left to say it with.
    }
  }

  /**
   * Returns whether what is stored of {@code metric.reporters} alone names this reporter, of a
   * broker without the flag: Kafka makes it at a start, too, when its snapshot of the metadata has
   * the value. Its log directories are not ours: they are not marked, or Kafka would not have come
   * here.
   */
  private static boolean isStoredAlone() {
    if (JdkFileSystem.providerActive()) {
      return false;
    }
    try {
      return CommandLineArguments.ofThisJvm()
          .load()
          .filter(file -> !file.namesReporter())
          .isPresent();
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Returns whether Kafka makes or closes this reporter for a changed {@code metric.reporters} of a
   * live broker: something reconfigurable of Kafka's is being reconfigured. The logs of a broker
   * that makes one are loaded, and were not ours: they are not marked, or it would not have
   * started. An exception would make Kafka drop all that is stored at the level of that change.
   */
  private static boolean isReconfiguring() {
    return StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE)
        .walk(
            frames ->
                frames.anyMatch(
                    frame ->
                        frame.getMethodName().equals("reconfigure")
                            && Reconfigurable.class.isAssignableFrom(frame.getDeclaringClass())));
  }

  private static BrokerProperties propertiesOf(Map<String, ?> configs) {
    Map<String, String> values = new HashMap<>();
    configs.forEach(
        (key, value) -> {
          if (value != null) {
            values.put(key, String.valueOf(value));
          }
        });
    return BrokerProperties.of("Kafka", values);
  }

  /**
   * The system's class loader may be another one, above the one of the class path, where {@code
   * java.system.class.loader} says so: it has to find these very classes.
   */
  private static void requireOneClassLoader() {
    if (!ClassCopies.isOnlyCopy(ClassLoader.getSystemClassLoader(), StrataReporter.class)) {
      throw new ConfigException(
          """
          Strata's classes were loaded by %s, expected the class loader of the broker's class \
          path: put the jar there, once\
          """
              .formatted(StrataReporter.class.getClassLoader()));
    }
  }

  private static void requireProvider() {
    if (!JdkFileSystem.providerActive()) {
      throw new ConfigException(
          """
          Strata's file system provider is not active, and without it the broker would read holes \
          where the pool has the records, and truncate them: add \
          -Djava.nio.file.spi.DefaultFileSystemProvider=io.strata.kafka.nio.StrataFileSystemProvider \
          to KAFKA_OPTS. To run without Strata, run 'strata drain' first, then remove \
          io.strata.kafka.StrataReporter from metric.reporters\
          """);
    }
  }

  private static BrokerTier openTier() {
    try {
      return StrataRuntime.broker()
          .orElseThrow(
              () ->
                  new ConfigException(
                      """
                      Strata took this JVM for a tool, because its main class is not kafka.Kafka \
                      and its first argument is no properties file: start it with \
                      -Dstrata.role=broker and -Dstrata.config=<server.properties>\
                      """));
    } catch (IOException e) {
      ConfigException refusal = new ConfigException(e.getMessage());
      refusal.initCause(e);
      throw refusal;
    }
  }

  private static void requireSameConfiguration(Map<String, ?> configs, BrokerTier opened) {
    opened
        .properties()
        .difference(propertiesOf(configs))
        .ifPresent(
            difference -> {
              throw new ConfigException(difference);
            });
  }

  @Override
  public void init(List<KafkaMetric> kafkaMetrics) {
    // Kafka's own metrics are its JmxReporter's.
  }

  @Override
  public void metricChange(KafkaMetric metric) {
    // As above.
  }

  @Override
  public void metricRemoval(KafkaMetric metric) {
    // As above.
  }

  /**
   * All names that Kafka is to ask about: those that a live broker takes another value for, and the
   * others in order to refuse them.
   */
  @Override
  public Set<String> reconfigurableConfigs() {
    try {
      return live.names(migration());
    } catch (Throwable e) {
      warn("Changes of the configuration do not reach Strata: ", e);
      return Set.of();
    }
  }

  /**
   * Checks a change before Kafka stores it. Kafka asks again before it applies what is stored,
   * which is never refused.
   *
   * @param configs all keys and values, with the dynamic ones laid over the file's
   * @throws ConfigException if the change sets a key of Strata's to what cannot be used; Kafka
   *     shows the message to who asked for it
   */
  @Override
  public void validateReconfiguration(Map<String, ?> configs) {
    try {
      live.validate(migration(), configs);
    } catch (ConfigRefusedException e) {
      throw new ConfigException(ConfigProblem.inOneLine(e.problems()));
    } catch (Throwable e) {
      warn("A change of the configuration could not be checked: ", e);
    }
  }

  /** Works by the changed values from now on, or from the next planning round. */
  @Override
  public void reconfigure(Map<String, ?> configs) {
    try {
      live.apply(migration(), configs);
    } catch (Throwable e) {
      warn("A change of the configuration could not be applied: ", e);
    }
  }

  private Optional<BrokerMigration> migration() {
    return Optional.ofNullable(broker).flatMap(BrokerTier::migration);
  }

  @Override
  public void close() {
    try {
      // Kafka closes its reporters when it stops, too, or when its start fails.
      boolean removed = isReconfiguring();
      live.closed(Optional.ofNullable(broker), removed);
      remoteAlone.filter(file -> removed).ifPresent(live::closed);
    } catch (Throwable e) {
      warn("Strata's reporter was closed: ", e);
    }
  }
}
