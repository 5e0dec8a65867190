package io.strata.kafka.it.kills;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Load;
import io.strata.kafka.it.harness.Pools;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Workspace;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * {@code kill -9} under load, again and again. Topics with one replica: one written with acks=1 and
 * no retries, where each acknowledged record must be there exactly once and one whose send failed
 * at most once; one written by an idempotent producer that retries until it succeeds, where every
 * record must be there exactly once. Segments are small, so that kills meet rolls; retention works
 * on a third topic, so that kills meet deletes; the pool is so small that, later, kills meet
 * spills. Every other kill comes in the middle of an orderly stop: Kafka 4.4 truncates, forces and
 * closes each log then, in this order, and older releases truncate last.
 */
class KillLoopTest {

  private static final int CYCLES = Integer.getInteger("strata.it.kill.cycles", 5);
  private static final long SEED = Long.getLong("strata.it.seed", System.nanoTime());
  private static final int PARTITIONS = 3;
  private static final int RATE = 2_000;

  /** An acknowledgement from the leader, and what fails is not sent again. */
  private static final Map<String, String> ACKS_1 =
      Map.of(
          "acks", "1",
          "retries", "0",
          "enable.idempotence", "false",
          "max.in.flight.requests.per.connection", "1",
          "delivery.timeout.ms", "6000",
          "request.timeout.ms", "5000",
          "reconnect.backoff.max.ms", "200");

  private static final Map<String, String> IDEMPOTENT =
      Map.of(
          "delivery.timeout.ms", "1800000",
          "max.block.ms", "1800000",
          "reconnect.backoff.max.ms", "200");

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void noAcknowledgedRecordIsLostOrThereTwice() throws Exception {
    assertNoneIsLostOrThereTwice("mapped");
  }

  @Test
  @Tag("long")
  void noAcknowledgedRecordIsLostOrThereTwiceWithAPoolFile() throws Exception {
    assertNoneIsLostOrThereTwice("file");
  }

  @SuppressWarnings("try") // the loads work by being open
  private static void assertNoneIsLostOrThereTwice(String poolType) throws Exception {
    Path pool = WORK.pool("hot-" + poolType, poolType);
    StockBroker broker =
        WORK.start(
            Tiers.plain(WORK.folder("broker-" + poolType))
                .strata(pool)
                .set("strata.pool.create", "192MiB")
                .set("strata.pool.type", poolType));
    Random random = new Random(SEED);
    RecordLedger acks1 = Tiers.topic(broker, "acks-1", PARTITIONS);
    RecordLedger idempotent = Tiers.topic(broker, "idempotent", PARTITIONS);
    RecordLedger retained =
        Tiers.topic(broker, "retained", PARTITIONS, Map.of("retention.bytes", "2097152"));
    String bootstrap = broker.bootstrap();
    try (Load first = Load.start(acks1, bootstrap, RATE, SEED + 1, ACKS_1);
        Load second = Load.start(idempotent, bootstrap, RATE, SEED + 2, IDEMPOTENT);
        Load third = Load.start(retained, bootstrap, RATE, SEED + 3, IDEMPOTENT)) {
      for (int cycle = 1; cycle <= CYCLES; cycle++) {
        TimeUnit.MILLISECONDS.sleep(500 + random.nextInt(2_000));
        if (cycle % 2 == 0) {
          broker.killWhileItStops(Duration.ofMillis(random.nextInt(1_500)));
        } else {
          broker.kill();
        }
        broker.start();
      }
    }
    assertThat(acks1.verify(bootstrap).records())
        .as("records, %s", seed())
        .isGreaterThanOrEqualTo(acks1.acknowledged());
    idempotent.assertNoneFailed();
    assertThat(idempotent.verify(bootstrap).records())
        .as("records, %s", seed())
        .isEqualTo(idempotent.acknowledged());
    retained.verifyNewest(bootstrap, 2 << 20);
    broker.stop();
    assertThat(Pools.strata("pool", "check", pool.toString()).orFail().output())
        .as("the checker's report after %d kills, %s", CYCLES, seed())
        .isNotEmpty();
  }

  private static String seed() {
    return "strata.it.seed=" + SEED;
  }
}
