package io.strata.kafka.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.yammer.metrics.core.MetricName;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.LiveSettings.IgnoredKey;
import io.strata.kafka.config.key.ConfigRefusedException;
import io.strata.kafka.metrics.RemoteFigures;
import io.strata.kafka.metrics.StatusMXBean;
import io.strata.kafka.migration.remote.RemoteEnvironment;
import io.strata.kafka.migration.remote.RemoteSettings;
import io.strata.kafka.unpublished.MetadataLog;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import javax.management.JMException;
import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.kafka.server.metrics.KafkaYammerMetrics;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the remote tier finds out about a broker without pools, and how that changes. */
class RemoteRuntimeTest {

  @TempDir private Path logs;
  @TempDir private Path ssd;

  private final List<IgnoredKey> wrong = new ArrayList<>();
  private final RemoteChanges changes = new RemoteChanges(wrong::addAll);
  private final Map<String, String> file = new HashMap<>();
  private final Map<String, Object> manager = new HashMap<>();
  private final Map<String, Object> kafka = new HashMap<>();
  private final List<RemoteSettings.Live> changed = new ArrayList<>();

  @BeforeEach
  void aBrokerWithoutPools() throws IOException {
    Files.writeString(logs.resolve("meta.properties"), "node.id=1\ncluster.id=abc\n");
    file.put("node.id", "1");
    file.put("log.dirs", "/nowhere/at/all," + logs);
    kafka.putAll(file);
    kafka.put("rsm.config.migration.rate.down", "10MB");
    manager.put("migration.rate.down", "10MB");
    manager.put("broker.id", 1);
    manager.put("levels", "ssd");
    manager.put("ssd.directories", ssd.toString());
  }

  @Test
  void theManagerFindsIt() {
    assertThat(ServiceLoader.load(RemoteEnvironment.class))
        .singleElement()
        .isInstanceOf(RemoteRuntime.class);
  }

  @Test
  void inAProcessThatIsNoBrokerItHasDefaults() {
    RemoteEnvironment environment = new RemoteRuntime();

    manager.remove("migration.rate.down");
    assertThat(environment.settings(manager).live().migration().downBytesPerSecond()).isZero();
    assertThat(environment.logDirectories()).isEmpty();
    assertThat(environment.clusterId()).isEmpty();
  }

  @Test
  void readsTheBrokersFileAndDirectories() {
    RemoteRuntime environment = environment();

    assertThat(environment.settings(manager).live().migration().downBytesPerSecond())
        .isEqualTo(10_000_000);
    assertThat(environment.logDirectories()).containsExactly(Path.of("/nowhere/at/all"), logs);
    assertThat(environment.clusterId()).contains("abc");
  }

  /** An embedded broker, as in Kafka's own tests, has no command line that names its file. */
  @Test
  void aBrokerWithoutAFileNamesItsLogDirectoriesToTheManager() {
    RemoteRuntime environment =
        new RemoteRuntime(
            new Broker() {
              @Override
              Optional<BrokerProperties> properties() {
                return Optional.empty();
              }
            });
    manager.put("log.dirs", "/nowhere/at/all," + logs);

    assertThat(environment.settings(manager).brokerId()).isEqualTo(1);
    assertThat(environment.logDirectories()).containsExactly(Path.of("/nowhere/at/all"), logs);
    assertThat(environment.clusterId()).contains("abc");
  }

  @Test
  void refusesInOneMessage() {
    manager.remove("levels");
    manager.put("copy.timeout.ms", "perhaps");

    assertThatThrownBy(() -> environment().settings(manager))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("rsm.config.levels: found nothing")
        .hasMessageContaining("rsm.config.copy.timeout.ms: found 'perhaps'");
  }

  @Test
  void aFileThatCannotBeReadIsRefused() {
    RemoteRuntime environment =
        new RemoteRuntime(
            new Broker() {
              @Override
              Optional<BrokerProperties> properties() throws IOException {
                throw new IOException("server.properties: is a directory");
              }
            });

    assertThatThrownBy(() -> environment.settings(manager))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("server.properties: is a directory");
  }

  @Test
  void changesReachTheManager() throws ConfigRefusedException {
    RemoteRuntime environment = started();
    assertThat(changes.names()).contains("rsm.config.migration.rate.down", "rsm.config.levels");

    kafka.put("rsm.config.migration.rate.down", "20MB");
    changes.validate(Map.of(), kafka);
    assertThat(changed).as("validated only").isEmpty();
    changes.reconfigure(kafka);
    changes.reconfigure(kafka);

    assertThat(environment).isNotNull();
    assertThat(changed)
        .singleElement()
        .extracting(live -> live.migration().downBytesPerSecond())
        .isEqualTo(20_000_000L);
    assertThat(changes.settings()).containsEntry("rsm.config.migration.rate.down", "20000000");

    kafka.remove("rsm.config.migration.rate.down");
    changes.reconfigure(kafka);
    assertThat(changed)
        .last()
        .extracting(live -> live.migration().downBytesPerSecond())
        .isEqualTo(0L);
  }

  @Test
  void whatCannotBeUsedIsRefusedAndChangesNothing() throws ConfigRefusedException {
    RemoteRuntime unused = started();
    kafka.put("rsm.config.migration.rate.down", "20M");

    assertThatThrownBy(() -> changes.validate(Map.of(), kafka))
        .isInstanceOf(ConfigRefusedException.class)
        .hasMessageContaining("rsm.config.migration.rate.down: found '20M'");
    changes.reconfigure(kafka); // Stored all the same.
    assertThat(wrong)
        .extracting(IgnoredKey::name)
        .containsExactly("rsm.config.migration.rate.down");
    assertThat(changed).isEmpty();
    assertThat(changes.settings()).containsEntry("rsm.config.migration.rate.down", "10000000");
  }

  @Test
  void whatTheManagerRefusesIsRefused() {
    RemoteRuntime environment = environment();
    RemoteSettings unused = environment.settings(manager);
    environment.onChange(
        live -> {
          throw new IllegalArgumentException("no such policy");
        });
    kafka.put("rsm.config.migration.rate.down", "20MB");

    assertThatThrownBy(() -> changes.reconfigure(kafka))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no such policy");
    assertThat(changes.settings()).containsEntry("rsm.config.migration.rate.down", "10000000");
  }

  @Test
  void whatTheReporterWasToldBeforeTheManagerCameHolds() throws ConfigRefusedException {
    kafka.put("rsm.config.migration.rate.down", "20MB");
    changes.reconfigure(kafka);

    assertThat(environment().settings(manager).live().migration().downBytesPerSecond())
        .isEqualTo(20_000_000);
    assertThat(changes.settings()).containsEntry("rsm.config.migration.rate.down", "20000000");
  }

  @Test
  void whatChangesWhileTheManagerStartsReachesIt() throws ConfigRefusedException {
    RemoteRuntime environment = environment();
    RemoteSettings unused = environment.settings(manager);
    kafka.put("rsm.config.migration.rate.down", "20MB");
    changes.reconfigure(kafka);

    environment.onChange(changed::add);

    assertThat(changed)
        .singleElement()
        .extracting(live -> live.migration().downBytesPerSecond())
        .isEqualTo(20_000_000L);
  }

  @Test
  void whatItWasToldAndCannotBeUsedDoesNotKeepTheBrokerFromStarting()
      throws ConfigRefusedException {
    kafka.put("rsm.config.migration.rate.down", "20M");
    changes.reconfigure(kafka);

    assertThat(environment().settings(manager).live().migration().downBytesPerSecond())
        .isEqualTo(10_000_000);
  }

  @Test
  void publishesMetricsAndStatusInThePlaceOfEarlierOnes() throws JMException {
    RemoteEnvironment environment = new RemoteRuntime();
    RemoteSettings unused = environment.settings(manager);
    environment.publish(RemoteFigures::quiet);
    environment.publish(RemoteFigures::some);

    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    assertThat(
            server.getAttribute(
                new ObjectName("io.strata.kafka:type=RemoteMigration,name=Active"), "Value"))
        .isEqualTo(1.0);
    StatusMXBean status =
        JMX.newMXBeanProxy(server, new ObjectName(StatusMXBean.NAME), StatusMXBean.class);
    assertThat(status.getBroker()).isEqualTo("1");
    assertThat(status.getMetrics()).containsKeys("RemoteLevel,level=ssd", "RemoteLevel,level=hdd");
    assertThat(KafkaYammerMetrics.defaultRegistry().allMetrics().keySet())
        .extracting(MetricName::getMBeanName)
        .contains("io.strata.kafka:type=RemoteMigration,name=Active");
  }

  @Test
  void withoutAManagerThereIsNothingToAskAbout() throws ConfigRefusedException {
    assertThat(changes.names()).isEmpty();
    assertThat(changes.settings()).isEmpty();
    kafka.put("rsm.config.migration.rate.down", "20M");
    changes.validate(Map.of(), kafka);
  }

  /** At a start Kafka may close the reporter before it hands over anything that is stored. */
  @Test
  void whatIsStoredIsInForceWithoutTheReporter() throws IOException {
    RemoteRuntime unused = started();
    Path metadata = Files.createDirectories(logs.resolve("__cluster_metadata-0"));
    MetadataLog.append(
        metadata,
        MetadataLog.LOG,
        0,
        MetadataLog.config(MetadataLog.BROKER, "", "rsm.config.migration.rate.down", "20MB"),
        MetadataLog.config(MetadataLog.BROKER, "1", "rsm.config.fetch.timeout.ms", "20000"));
    file.put("metadata.log.dir", logs.toString());
    file.put("rsm.config.migration.rate.down", "10MB");
    LiveConfiguration live = new LiveConfiguration(new StoredValues(text -> {}), changes);

    live.closed(Optional.empty(), true);
    live.closed(BrokerProperties.of("Kafka", file));

    assertThat(changes.settings())
        .containsEntry("rsm.config.migration.rate.down", "20000000")
        .containsEntry("rsm.config.fetch.timeout.ms", "20000");
    assertThat(changed).hasSize(1);
  }

  private RemoteRuntime started() {
    RemoteRuntime environment = environment();
    RemoteSettings unused = environment.settings(manager);
    environment.onChange(changed::add);
    return environment;
  }

  private RemoteRuntime environment() {
    return new RemoteRuntime(new Broker());
  }

  private class Broker extends RemoteRuntime.BrokerSide {
    @Override
    Optional<BrokerProperties> properties() throws IOException {
      return Optional.of(BrokerProperties.of("test", file));
    }

    @Override
    Optional<BrokerTier> tier() {
      return Optional.empty();
    }

    @Override
    RemoteChanges changes() {
      return changes;
    }
  }
}
