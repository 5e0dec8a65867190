package io.strata.kafka.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A log directory is taken out of {@code log.dirs} for a while and comes back. Kafka has made its
 * partitions anew in the other one meanwhile, and refuses to have them twice: with Strata and
 * without.
 */
@Tag("long")
class LogDirectoryAwayTest {

  private static final int PARTITIONS = 8;

  @RegisterExtension final Workspace work = new Workspace();

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void kafkaRefusesPartitionsThatItHasMadeAnew(boolean strata) throws Exception {
    StockBroker.Builder builder =
        StockBroker.in(work.folder(strata ? "strata" : "stock")).logDirectories(2);
    if (strata) {
      builder.strata(Pools.create(work.pool("hot"), "64MiB"));
    }
    StockBroker broker = work.closing(builder.build()).start();
    Topics.create(broker, "away", PARTITIONS, Map.of());
    broker.stop();
    String both = broker.property("log.dirs");
    Path stays = Path.of(both.split(",", -1)[0]);
    Path away = Path.of(both.split(",", -1)[1]);
    assertThat(partitions(away)).as("some are in each").isBetween(1L, PARTITIONS - 1L);

    broker.set("log.dirs", stays.toString()).start();
    await().atMost(Duration.ofMinutes(5)).until(() -> partitions(stays) == PARTITIONS);
    broker.stop();
    broker.set("log.dirs", both);

    assertThat(broker.startRefused().output())
        .contains("Duplicate log directories for away-", "are found in both");
  }

  private static long partitions(Path directory) {
    try (Stream<Path> all = Files.list(directory)) {
      return all.filter(path -> path.getFileName().toString().startsWith("away-")).count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
