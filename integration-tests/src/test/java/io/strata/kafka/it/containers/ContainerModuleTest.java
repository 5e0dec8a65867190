package io.strata.kafka.it.containers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.testcontainers.StrataKafkaContainer;
import java.util.Map;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The container for users' tests, as one of them has it. */
@Tag("long")
class ContainerModuleTest {

  @BeforeAll
  static void engine() {
    ContainerEngine.assumeThere();
  }

  @Test
  void aFullPoolAKilledBrokerAndALostPool() throws Exception {
    try (StrataKafkaContainer kafka = ContainerImageTest.container("mapped").withPool("16MiB")) {
      kafka.start();
      RecordLedger orders = topic(kafka, "orders");
      orders.produce(kafka.getBootstrapServers(), 1_000, 1_000);
      assertThat(kafka.segments("orders")).contains("\"HOT\"");

      RecordLedger large = topic(kafka, "large");
      large.produce(kafka.getBootstrapServers(), 10, 1_000);
      kafka.spill("large");
      assertThat(kafka.segments("large")).contains("\"SPILLED\"");
      orders.produce(kafka.getBootstrapServers(), 1_000, 1_000);

      kafka.killBroker();
      kafka.startBroker();
      assertThat(orders.verify(kafka.getBootstrapServers()).records()).isEqualTo(2_000);

      kafka.losePool();
      assertThat(kafka.startRefused()).contains("strata.pool", "orders-0");
      assertThat(kafka.acceptLoss()).contains("orders-0");
      kafka.startBroker();
      RecordLedger next = topic(kafka, "next");
      next.produce(kafka.getBootstrapServers(), 1_000, 1_000);
      assertThat(next.verify(kafka.getBootstrapServers()).records()).isEqualTo(1_000);
      kafka.fillPool();
      kafka.relievePool();
      kafka.stopBroker();
      kafka.startBroker();
      assertThat(next.verify(kafka.getBootstrapServers()).records()).isEqualTo(1_000);
    }
  }

  @Test
  void aBrokerThatRefusesIsNoStart() {
    try (StrataKafkaContainer kafka = ContainerImageTest.container("mapped")) {
      kafka.start();
      kafka.losePool();
      assertThatThrownBy(kafka::startBroker)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("refused to start");
    }
  }

  private static RecordLedger topic(StrataKafkaContainer kafka, String name)
      throws InterruptedException {
    try (Admin admin =
        Admin.create(
            Map.of(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, kafka.getBootstrapServers()))) {
      Topics.create(admin, new NewTopic(name, 1, (short) 1));
    }
    return new RecordLedger(name, 1, 1);
  }
}
