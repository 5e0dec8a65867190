package io.strata.kafka.it.harness;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FreePortsTest {

  /**
   * Once a broker's JMX connector ended on a port that a client's connection had taken meanwhile.
   */
  @Test
  void areNotThoseOfOutgoingConnections() {
    assertThat(FreePorts.find(20)).allMatch(port -> port < FreePorts.firstOfConnections());
  }

  @Test
  void areGivenOnceAndCanBeListenedOn() throws IOException {
    List<Integer> ports = new ArrayList<>(FreePorts.find(10));
    ports.addAll(FreePorts.find(10));

    assertThat(ports).doesNotHaveDuplicates();
    for (int port : ports) {
      try (ServerSocket socket = new ServerSocket(port)) {
        assertThat(socket.getLocalPort()).isEqualTo(port);
      }
    }
  }
}
