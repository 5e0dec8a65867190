package io.strata.kafka.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.config.LiveSettings.IgnoredKey;
import io.strata.kafka.config.key.ConfigProblem;
import io.strata.kafka.config.key.ConfigRefusedException;
import io.strata.kafka.config.key.Parsed;
import io.strata.kafka.config.key.StrataKey;
import io.strata.kafka.fuzz.FuzzTarget;
import io.strata.kafka.migration.plan.PolicyRegistry;
import io.strata.kafka.migration.remote.RemoteSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A broker's {@code server.properties}. It is refused with problems that name their keys, or
 * accepted, and nothing else.
 */
final class PropertiesTarget implements FuzzTarget {

  private static final Map<String, String> STARTED =
      Map.of(
          "node.id",
          "1",
          "strata.tiers",
          "hot,ssd",
          "strata.tier.hot.pools",
          "/p/a",
          "strata.tier.ssd.pools",
          "/p/b");

  private final Path file;
  private final LiveSettings<StrataConfig> live =
      LiveSettings.local(
          BrokerProperties.of("test", STARTED),
          StrataConfig.parse(STARTED).config().orElseThrow(),
          PolicyRegistry.builtIn());

  PropertiesTarget() throws IOException {
    this.file = Files.createTempFile("strata-fuzz", ".properties");
    file.toFile().deleteOnExit();
  }

  @Override
  public String name() {
    return "server-properties";
  }

  @Override
  public long mostAllocated() {
    return 64L << 20;
  }

  @Override
  public void run(byte[] input) throws IOException {
    Files.write(file, input);
    BrokerProperties broker;
    try {
      broker = BrokerProperties.load(file, List.of("--nonsense", "a=b"), Path.of(""));
    } catch (IOException e) {
      assertThat(e).hasMessageContaining(file.toString());
      return;
    }
    List<ConfigProblem> problems = new ArrayList<>(broker.check());
    Parsed<StrataConfig> parsed = broker.strataConfig();
    problems.addAll(parsed.problems());
    assertThat(parsed.config().isEmpty())
        .isEqualTo(parsed.problems().stream().anyMatch(ConfigProblem::isError));
    try {
      StrataConfig config = broker.checkedConfig();
      assertThat(problems).noneMatch(ConfigProblem::isError);
      use(broker, config);
    } catch (ConfigRefusedException e) {
      assertThat(problems).anyMatch(ConfigProblem::isError);
      assertThat(e.problems()).containsAll(problems);
    }
    OptionalInt unused = broker.nodeId();
    problems.addAll(remote(broker));
    for (ConfigProblem problem : problems) {
      assertThat(problem.key()).isNotBlank();
      assertThat(problem.message()).startsWith(problem.key() + ": found ");
      assertThat(problem.action()).isNotBlank();
    }
    changeALiveBroker(broker);
  }

  private static void use(BrokerProperties broker, StrataConfig config) {
    assertThat(config.tiers()).isNotEmpty();
    assertThat(config.pools()).isNotEmpty().allSatisfy(pool -> assertThat(pool).isAbsolute());
    assertThat(broker.logDirs()).isNotEmpty();
    assertThat(broker.metadataLogDir()).isAbsolute();
    assertThat(config.migration().thresholds()).hasSize(config.tiers().size());
    config.pools().forEach(pool -> assertThat(config.poolType(pool)).isNotNull());
    assertThat(config.placement()).isNotNull();
  }

  private static List<ConfigProblem> remote(BrokerProperties broker) {
    Parsed<RemoteSettings> parsed = RemoteConfig.parse(broker);
    assertThat(parsed.config().isEmpty())
        .isEqualTo(parsed.problems().stream().anyMatch(ConfigProblem::isError));
    parsed.config().ifPresent(settings -> changeWhatIsRemote(broker, settings));
    return parsed.problems();
  }

  /** What is written of live settings is read as the same. */
  private static void changeWhatIsRemote(BrokerProperties broker, RemoteSettings settings) {
    LiveSettings<RemoteSettings.Live> remote =
        LiveSettings.remote(given(broker), true, settings, PolicyRegistry.builtIn());
    RemoteSettings.Live usable = remote.read(broker.asMap()).settings();
    Map<String, String> again = new HashMap<>(broker.asMap());
    again.putAll(remote.written(usable));
    assertThat(remote.read(again).settings()).isEqualTo(usable);
  }

  private static Map<String, String> given(BrokerProperties broker) {
    Map<String, String> given = new HashMap<>(broker.asMap());
    given.keySet().removeIf(name -> !name.startsWith(RemoteKeys.MANAGER_PREFIX));
    return given;
  }

  private void changeALiveBroker(BrokerProperties broker) {
    LiveSettings.Usable<StrataConfig> outcome = live.read(broker.asMap());
    Optional<IgnoredKey> own =
        outcome.ignored().stream().filter(key -> !key.name().startsWith("strata.")).findAny();
    assertThat(own).isEmpty();
  }

  @Override
  public List<byte[]> seeds() {
    String hot =
        """
        node.id=1
        log.dirs=/data/a,/data/b
        metric.reporters=org.apache.kafka.common.metrics.JmxReporter,io.strata.kafka.StrataReporter
        strata.tiers=hot,ssd
        strata.tier.hot.pools=/pmem/a.pool,/pmem/b.pool
        strata.tier.ssd.pools=/ssd/a.pool
        strata.tier.ssd.type=file
        strata.tier.ssd.threshold=0.7
        strata.migration.threshold=0.5
        strata.migration.policy=age
        strata.migration.rate=80MB
        strata.topics.include=orders.*,payments
        strata.topics.exclude=__.*
        """;
    String remote =
        """
        broker.id=2
        log.dir=/data
        process.roles=broker
        strata.pools=/pmem/a.pool
        remote.log.storage.manager.class.name=io.strata.kafka.migration.remote.StrataRemoteStorageManager
        rsm.config.levels=ssd,hdd
        rsm.config.ssd.directories=/ssd/store=1TB
        rsm.config.hdd.directories=/hdd1/store,/hdd2/store
        rsm.config.migration.rate.down=10MB
        rsm.config.scrub.interval=30d
        """;
    List<byte[]> seeds = new ArrayList<>();
    seeds.add(FuzzTarget.text(hot));
    seeds.add(FuzzTarget.text(remote));
    seeds.add(FuzzTarget.text("strata.pools=/a\nlog.dirs=/x\\u0000y\n"));
    seeds.add(FuzzTarget.text("strata.pools=/a\\u0000\n"));
    seeds.add(FuzzTarget.text("a=\\uXXXX\n"));
    for (StrataKey<?> key : StrataKeys.LOCAL.keys()) {
      seeds.add(FuzzTarget.text("strata.pools=/a\n" + line(key)));
    }
    for (StrataKey<?> key : RemoteKeys.REMOTE.keys()) {
      seeds.add(FuzzTarget.text(remote + line(key)));
    }
    return seeds;
  }

  private static String line(StrataKey<?> key) {
    String name = key.name().replaceAll("<[^>]*>", "ssd");
    return name + "=" + key.defaultValue().orElse("ssd") + "\n";
  }

  @Override
  public List<String> words() {
    List<String> words =
        new ArrayList<>(
            List.of(
                "\n",
                "=",
                ",",
                "..",
                "/",
                "${env:X}",
                "-1",
                "0",
                "1e9",
                "NaN",
                "Infinity",
                "99999999999999999999",
                "9223372036854775807",
                "1.5MiB",
                "80M",
                "PiB",
                "ms",
                "30d",
                "true",
                "\\u0000",
                "\\u00e4",
                "(",
                "[a-",
                "x{2147483647}",
                " ",
                "hot",
                "file"));
    StrataKeys.all().forEach(key -> words.add(key.name().replaceAll("<[^>]*>", "ssd")));
    return words;
  }
}
