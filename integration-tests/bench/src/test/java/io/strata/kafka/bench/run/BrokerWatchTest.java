package io.strata.kafka.bench.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.strata.kafka.bench.scenario.ScenarioException;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.List;
import org.apache.kafka.common.Node;
import org.junit.jupiter.api.Test;

class BrokerWatchTest {

  /** Other brokers on this host are none of the cluster's. */
  @Test
  void aLocalBrokerIsTheProcessThatListens() throws IOException {
    int port;
    try (ServerSocket listening = new ServerSocket(0)) {
      port = listening.getLocalPort();
      assertThat(facts(port)).containsExactly(Long.toString(ProcessHandle.current().pid()));
    }
    assertThat(facts(port)).isEmpty();
  }

  private static List<String> facts(int port) throws IOException {
    try (BrokerWatch watch = new BrokerWatch(List.of("local"))) {
      watch.connect(List.of(new Node(1, "127.0.0.1", port)));
      return List.copyOf(watch.facts().values());
    }
  }

  @Test
  void processorTimeIsPerGigabyteSinceTheWarmup() throws IOException {
    String own = "pid:" + ProcessHandle.current().pid();
    try (BrokerWatch watch = new BrokerWatch(List.of(own))) {
      watch.connect(List.of());
      watch.begin();
      watch.sample(0);
      watch.sample(1);
      watch.sample(2);

      double seconds = watch.figures(1, 500_000_000, 0).getOrDefault("processor-seconds", -1.0);
      assertThat(watch.figures(1, 500_000_000, 0))
          .containsOnlyKeys("processor-seconds", "processor-seconds-per-gb-in")
          .extractingByKey("processor-seconds-per-gb-in")
          .satisfies(perGb -> assertThat(perGb).isCloseTo(2 * seconds, within(1e-9)));
      // One sample is no difference.
      assertThat(watch.figures(2, 1, 1)).isEmpty();
    }
  }

  @Test
  void whatIsNoBrokerIsNamed() {
    assertThatThrownBy(() -> connect("http://x"))
        .isInstanceOf(ScenarioException.class)
        .hasMessageContaining("found 'http://x', expected local, pid:NUMBER or HOST:PORT");
    assertThatThrownBy(() -> connect("pid:x"))
        .hasMessageContaining("found 'pid:x', expected a number");
  }

  private static void connect(String broker) throws IOException {
    try (BrokerWatch watch = new BrokerWatch(List.of(broker))) {
      watch.connect(List.of());
    }
  }

  /** The process after a restart is another one; what was closed is not read again. */
  @Test
  void itConnectsAgainAfterARestart() throws IOException {
    String own = "pid:" + ProcessHandle.current().pid();
    try (BrokerWatch watch = new BrokerWatch(List.of(own))) {
      watch.connect(List.of());
      watch.disconnect();
      watch.connect(List.of());

      assertThat(watch.facts()).containsOnlyKeys("broker 1 process");
    }
  }
}
