package io.strata.kafka.bench.paired;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BrokerPortsTest {

  @Test
  void theyAreBelowThoseOfOutgoingConnections(@TempDir Path folder) throws IOException {
    Path range = Files.writeString(folder.resolve("range"), "10200\t60999\n");

    assertThat(BrokerPorts.find(3, range)).hasSize(3).allMatch(p -> p >= 10_000 && p < 10_200);
  }
}
