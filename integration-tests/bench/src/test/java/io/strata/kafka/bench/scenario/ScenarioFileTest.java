package io.strata.kafka.bench.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScenarioFileTest {
  private static final String TEXT =
      """
      name: two-phases
      defaults:
        producers: {acks: 1, properties: {buffer.memory: 1000000}}
      topics:
        events: {partitions: 3, config: {retention.bytes: 1000}}
      phases:
        load:
          warmup: 10s
          producers:
            slow: {topic: events, rate: 100/s, until: {time: 60s}}
            fast: {topic: events, acks: all, clients: 2, until: {records: 1M, bytes: 1GiB}}
        drain:
          consumers:
            all: {topic: events}
      """;

  @TempDir private Path folder;

  private Scenario parse(String... overrides) {
    return ScenarioFile.parse(TEXT, folder, List.of(overrides));
  }

  private static ProducerSpec producers(Scenario scenario, String group) {
    return Objects.requireNonNull(
        Objects.requireNonNull(scenario.phases().get("load")).producers().get(group));
  }

  @Test
  void fillsInDefaults() {
    Scenario scenario = parse();

    assertThat(scenario.bootstrap()).isEqualTo("localhost:9092");
    assertThat(scenario.topics().get("events"))
        .isEqualTo(new TopicSpec(3, 1, false, Map.of("retention.bytes", "1000")));
    assertThat(scenario.phases().keySet()).containsExactly("load", "drain");
    ProducerSpec slow = producers(scenario, "slow");
    assertThat(slow.client())
        .containsEntry("acks", "1")
        .containsEntry("batch.size", "16384")
        .containsEntry("linger.ms", "5")
        .containsEntry("buffer.memory", "1000000");
    assertThat(producers(scenario, "fast").client()).containsEntry("acks", "all");
    assertThat(slow.rate().steps()).containsExactly(new RateProfile.Step(1, 100));
    assertThat(producers(scenario, "fast").rate().isMaximum()).isTrue();
    assertThat(scenario.clientsOf("events")).isEqualTo(2);
  }

  @Test
  void scaleMultipliesAmountsAndTimesAlone() {
    Scenario scenario = parse("scale=0.1");

    PhaseSpec load = Objects.requireNonNull(scenario.phases().get("load"));
    assertThat(load.warmupSeconds()).isEqualTo(1.0);
    assertThat(load.limitSeconds()).isEqualTo(7200.0);
    assertThat(producers(scenario, "slow").until().seconds()).hasValue(6.0);
    assertThat(producers(scenario, "fast").until().records()).hasValue(100_000);
    assertThat(producers(scenario, "fast").until().bytes()).hasValue(107_374_182);
    assertThat(producers(scenario, "slow").rate().steps())
        .containsExactly(new RateProfile.Step(1, 100));
    assertThat(producers(scenario, "fast").clients()).isEqualTo(2);
  }

  @Test
  void everyKeyCanBeOverridden() {
    Scenario scenario =
        parse(
            "bootstrap=other:1",
            "kafka.security.protocol=SSL",
            "topics.*.partitions=8",
            "topics.events.config.flush.messages=1",
            "producers.acks=0",
            "producers.properties.send.buffer.bytes=5",
            "phases.load.producers.fast.rate=[{rate: 10/s, for: 1s}, {rate: 5/s, for: 2s}]",
            "phases.load.producers.slow.until.log-size=10MB",
            "consumers.from=end",
            "defaults.consumers.clients=7");

    assertThat(scenario.bootstrap()).isEqualTo("other:1");
    assertThat(scenario.kafka()).containsEntry("security.protocol", "SSL");
    TopicSpec events = Objects.requireNonNull(scenario.topics().get("events"));
    assertThat(events.partitions()).isEqualTo(8);
    assertThat(events.config())
        .containsEntry("flush.messages", "1")
        .containsEntry("retention.bytes", "1000");
    ProducerSpec fast = producers(scenario, "fast");
    assertThat(fast.client()).containsEntry("acks", "0").containsEntry("send.buffer.bytes", "5");
    assertThat(fast.rate().steps())
        .containsExactly(new RateProfile.Step(1, 10), new RateProfile.Step(2, 5));
    assertThat(producers(scenario, "slow").until().logSize()).hasValue(10_000_000);
    ConsumerSpec drain =
        Objects.requireNonNull(
            Objects.requireNonNull(scenario.phases().get("drain")).consumers().get("all"));
    assertThat(drain.fromBeginning()).isFalse();
    assertThat(drain.clients()).isEqualTo(7);
  }

  @Test
  void aPhaseMayRestartTheBroker() {
    Scenario scenario =
        parse("phases.load.broker=restart", "phases.drain.broker=kill", "begin-as=a/stock.yaml");

    assertThat(scenario.brokerSteps())
        .isEqualTo(
            Map.of("load", PhaseSpec.BrokerStep.RESTART, "drain", PhaseSpec.BrokerStep.KILL));
    assertThat(scenario.beginAs()).contains(folder.resolve("a/stock.yaml"));
    assertThat(Scenario.of(scenario.tree())).isEqualTo(scenario);
    assertThat(parse().brokerSteps()).isEmpty();
    assertThat(parse().beginAs()).isEmpty();
  }

  /** Without clients there is nothing else to do in a phase. */
  @Test
  void onlyAPhaseWithAStepNeedsNoClients() {
    String text = "name: a\ntopics: {events: {}}\nphases: {one: {broker: %s}}\n";

    Scenario killing = ScenarioFile.parse(text.formatted("kill"), folder, List.of());
    assertThat(Objects.requireNonNull(killing.phases().get("one")).hasClients()).isFalse();
    assertThatThrownBy(() -> ScenarioFile.parse(text.formatted("stays"), folder, List.of()))
        .isInstanceOf(ScenarioException.class)
        .hasMessageContaining("phases.one: found 'no group', expected one of producers or")
        .hasMessageContaining("or broker: restart or kill");
  }

  /** What other hosts get is the tree; they read the same from it. */
  @Test
  void theTreeIsTheScenario() {
    Scenario scenario = parse("scale=0.5");

    assertThat(Scenario.of(scenario.tree())).isEqualTo(scenario);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "nmae=x | found the key 'nmae', expected one of begin-as, bootstrap",
        "producers.aks=1 | phases.load.producers.slow: found the key 'aks', expected one of acks",
        "producers.acks=2 | phases.load.producers.slow.acks: found '2', expected one of all, -1",
        "producers.clients=0 | clients: found '0', expected 1 at least",
        "producers.batch=16KB | batch: found '16KB', expected bytes such as 100, 64KiB",
        "producers.linger=5 | linger: found '5', expected a time such as 500ms",
        "producers.record-size=7 | record-size: found '7', expected 8 at least",
        "producers.compressibility=1.5 | expected a number from 0 to 1",
        "producers.rate=100 | rate: found '100', expected records or bytes per second such as",
        "producers.rate=[] | expected a rate above 0",
        "producers.until=x | until: found '\"x\"', expected keys with values",
        "phases.load.producers.slow.until.time=none | expected one of records, bytes, time,"
            + " log-size",
        "producers.topic=else | topic: found 'else', expected one of the topics: events",
        "scale=0 | scale: found '0', expected a number above 0",
        "hosts=[-oProxyCommand=x] | hosts: found '-oProxyCommand=x', expected local, process or",
        "hosts=[] | hosts: found 'an empty list'",
        "hosts=here | hosts: found 'here', expected a list, such as [a, b]",
        "phases={} | expected one at least",
        "phases.load.nothing.at.all=1 | found 'phases.load.nothing.at.all=1', expected a place",
        "phases.load.broker=stop | phases.load.broker: found 'stop', expected one of stays,"
            + " restart, kill",
        "begin-as=stock.yaml | /stock.yaml', expected none, or a phase with broker: restart or"
            + " kill",
        "name=a/b | name: found 'a/b', expected letters",
        "without-value | an override: found 'without-value', expected KEY=VALUE",
      })
  void namesWhatIsWrong(String override, String message) {
    assertThatThrownBy(() -> parse(override))
        .isInstanceOf(ScenarioException.class)
        .hasMessageContaining(message);
  }

  @Test
  void readsProfilesOverTime() throws IOException {
    Files.writeString(folder.resolve("load.csv"), "# seconds,rate\n10,5/s\n500ms,20kB/s\n");

    assertThat(rate("{file: load.csv}"))
        .containsExactly(new RateProfile.Step(10, 5), new RateProfile.Step(0.5, 19.53125));
    assertThat(rate("{bursts: {base: 10/s, peak: 100/s, every: 60s, lasting: 5s}}"))
        .containsExactly(new RateProfile.Step(55, 10), new RateProfile.Step(5, 100));
    List<RateProfile.Step> sine = rate("{sine: {mean: 100/s, amplitude: 50/s, period: 10s}}");
    assertThat(sine.stream().mapToDouble(s -> s.seconds() * s.perSecond()).sum())
        .isCloseTo(1000, org.assertj.core.data.Offset.offset(1e-6));
    assertThat(sine.get(25).perSecond()).isBetween(149.9, 150.0);
    assertThat(sine.get(75).perSecond()).isBetween(50.0, 50.1);
  }

  @Test
  void namesTheLineOfAProfile() throws IOException {
    Files.writeString(folder.resolve("load.csv"), "10,5/s\n10;5/s\n");

    assertThatThrownBy(() -> rate("{file: load.csv}"))
        .hasMessageContaining("line 2 of")
        .hasMessageContaining("found '10;5/s', expected SECONDS,RATE");
  }

  private List<RateProfile.Step> rate(String yaml) {
    return producers(parse("producers.rate=" + yaml), "slow").rate().steps();
  }

  @Test
  void namesAFileThatIsNone() throws IOException {
    assertThatThrownBy(() -> ScenarioFile.read(folder.resolve("none.yaml"), List.of()))
        .isInstanceOf(ScenarioException.class)
        .hasMessageContaining("none.yaml: found no readable file");
    Path file = Files.writeString(folder.resolve("list.yaml"), "[1, 2]");
    assertThatThrownBy(() -> ScenarioFile.read(file, List.of()))
        .hasMessageContaining("list.yaml: the file: found '[1,2]', expected keys with values");
    Path twice = Files.writeString(folder.resolve("twice.yaml"), "name: a\nname: b\n");
    assertThatThrownBy(() -> ScenarioFile.read(twice, List.of()))
        .hasMessageContaining("Duplicate field 'name'");
  }
}
