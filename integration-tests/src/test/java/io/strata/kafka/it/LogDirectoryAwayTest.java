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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What stock Kafka does where a log directory is taken out of {@code log.dirs} for a while and
 * comes back: it has made its partitions anew in the other one meanwhile, and refuses to have them
 * twice. docs/operations.md says so.
 */
@Tag("long")
class LogDirectoryAwayTest {

  private static final int PARTITIONS = 8;

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void kafkaRefusesPartitionsThatItHasMadeAnew() throws Exception {
    StockBroker broker =
        WORK.closing(StockBroker.in(WORK.folder("stock")).logDirectories(2).build()).start();
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
