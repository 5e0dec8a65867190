package io.strata.kafka.it.faults;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A broker whose clock jumps by years, forward and backward, while segments move by age: nothing is
 * lost, nothing spins, and moves go on. Needs libfaketime.
 */
@Tag("long")
class ClockTest {

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void theClockJumps() throws Exception {
    Path library =
        faketime()
            .orElseGet(
                () -> Assumptions.abort("libfaketime is not installed: no clock that jumps"));
    Path offset = WORK.folder("clock").resolve("offset");
    Files.writeString(offset, "+0", US_ASCII);
    Path pool = WORK.newPool("clock", "64MiB", 256);
    StockBroker broker =
        WORK.closing(
                Tiers.broker(WORK.folder("clock"), pool)
                    .set("strata.migration.policy", "age")
                    .set("strata.migration.policy.after", "1h")
                    .set("log.retention.ms", "-1")
                    // Otherwise Kafka refuses records of what it takes for the future.
                    .set("log.message.timestamp.after.max.ms", Long.toString(Long.MAX_VALUE))
                    .set("log.cleaner.backoff.ms", "100000000")
                    .build())
            .environment(
                Map.of(
                    "LD_PRELOAD",
                    library.toString(),
                    "FAKETIME_TIMESTAMP_FILE",
                    offset.toString(),
                    "FAKETIME_CACHE_DURATION",
                    "1",
                    "FAKETIME_DONT_FAKE_MONOTONIC",
                    "1",
                    // Otherwise waits of the JVM end at once, and its threads spin.
                    "FAKETIME_FORCE_MONOTONIC_FIX",
                    "0"))
            .start();
    RecordLedger ledger = FailingMedia.topic(broker, "hot", Tiers.SEGMENT, 4_000);
    jump(offset, "+10y");
    Tiers.awaitClean(broker, "hot"); // what was there has turned old
    for (String by : new String[] {"-20y", "+0", "+1d", "-1d"}) {
      jump(offset, by);
      long cpu = cpuMillis(broker);
      TimeUnit.SECONDS.sleep(3);
      assertThat(cpuMillis(broker) - cpu)
          .as("milliseconds of processor time in three seconds after a jump to %s", by)
          .isLessThan(3_000);
      ledger.produce(broker.bootstrap(), 1_500, 1_000);
      FailingMedia.assertAllThere(broker, ledger);
    }
    jump(offset, "+20y");
    Tiers.awaitClean(broker, "hot");
    FailingMedia.assertAllThere(broker, ledger);
    broker.kill();
    broker.environment(Map.of());
    broker.start();
    FailingMedia.assertAllThere(broker, ledger);
    Tiers.audit(broker);
  }

  private static void jump(Path offset, String by) throws IOException {
    Path next = offset.resolveSibling("next");
    Files.writeString(next, by, US_ASCII);
    Files.move(next, offset, StandardCopyOption.ATOMIC_MOVE);
  }

  private static long cpuMillis(StockBroker broker) {
    return ProcessHandle.of(broker.pid())
        .flatMap(process -> process.info().totalCpuDuration())
        .map(Duration::toMillis)
        .orElseThrow();
  }

  private static Optional<Path> faketime() throws IOException {
    Path libraries = Path.of("/usr/lib");
    try (Stream<Path> all = Files.find(libraries, 4, (p, a) -> p.endsWith("libfaketime.so.1"))) {
      return all.findAny();
    }
  }
}
