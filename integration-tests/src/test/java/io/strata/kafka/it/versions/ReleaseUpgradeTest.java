package io.strata.kafka.it.versions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A broker with the jar of a release ({@code -Dstrata.it.released=strata-kafka-0.1.0.jar}) is given
 * this tree's, and goes back: with a pool and a remote tier, after orderly stops and after kills.
 * No record is lost, and the records of either version are read by the other.
 */
@Tag("long")
class ReleaseUpgradeTest {

  private static final int RECORDS = 6_000;
  private static final int SIZE = 1_000;

  @RegisterExtension static final Workspace WORK = new Workspace();

  private final RecordLedger orders = new RecordLedger("orders", 2, 1);
  private final RecordLedger tiered = new RecordLedger("tiered", 1, 2);

  @Test
  void toThisTreeAndBack() throws Exception {
    String jar = System.getProperty("strata.it.released", "");
    assumeThat(jar).as("-Dstrata.it.released=<the jar of a release>").isNotEmpty();
    Path released = Path.of(jar);
    TieredBrokers tier = TieredBrokers.over(WORK.folder("store"));
    StockBroker broker =
        WORK.closing(
            tier.withPools(WORK.folder("broker"), WORK.pool("pool"))
                .set("strata.pool.create", "32MiB")
                .build());
    broker.strataJar(released).start();
    Topics.create(broker, "orders", 2, Map.of("segment.bytes", "" + Tiers.SEGMENT));
    Topics.create(broker, "tiered", 1, TieredBrokers.topic());
    produce(broker);

    broker.stop();
    broker.strataJar().start();
    readAndProduce(broker);
    broker.kill();
    broker.strataJar(released).start();
    readAndProduce(broker);
    broker.kill();
    broker.strataJar().start();
    readAndProduce(broker);
    broker.stop();
    broker.strata("doctor").orFail();
    broker.strataJar(released).start();
    readAndProduce(broker);

    broker.stop();
    broker.strataJar();
    Tiers.audit(broker);
    broker.strata("drain").orFail();
    broker.strataJar(released).start();
    readAndProduce(broker);
    assertThat(orders.acknowledged()).isEqualTo(6 * RECORDS);
  }

  private void produce(StockBroker broker) throws Exception {
    orders.produce(broker.bootstrap(), RECORDS, SIZE);
    tiered.produce(broker.bootstrap(), RECORDS, SIZE);
  }

  private void readAndProduce(StockBroker broker) throws Exception {
    Tiers.verify(broker, orders, tiered);
    produce(broker);
  }
}
