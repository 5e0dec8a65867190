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
    try (BrokerWatch watch =
        BrokerWatch.connect(List.of("local"), List.of(new Node(1, "127.0.0.1", port)))) {
      return List.copyOf(watch.facts().values());
    }
  }

  @Test
  void processorTimeIsPerGigabyteSinceTheWarmup() throws IOException {
    String own = "pid:" + ProcessHandle.current().pid();
    try (BrokerWatch watch = BrokerWatch.connect(List.of(own), List.of())) {
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
    assertThatThrownBy(() -> BrokerWatch.connect(List.of("http://x"), List.of()))
        .isInstanceOf(ScenarioException.class)
        .hasMessageContaining("found 'http://x', expected local, pid:NUMBER or HOST:PORT");
    assertThatThrownBy(() -> BrokerWatch.connect(List.of("pid:x"), List.of()))
        .hasMessageContaining("found 'pid:x', expected a number");
  }
}
