package io.strata.kafka.migration.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.migration.remote.store.SegmentInfo;
import io.strata.kafka.migration.remote.store.SegmentKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whose copies are missing, by the files of partitions that this broker has copied from. */
class UncopiedTest {

  private static final String TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ";

  @TempDir private Path logDirectory = Path.of("");
  private Path partition = Path.of("");

  /** The last offset that the store has, by partition. */
  private final Map<Integer, Long> copied = new ConcurrentHashMap<>();

  private final Uncopied uncopied =
      new Uncopied(
          () ->
              copied.entrySet().stream()
                  .map(
                      entry ->
                          new SegmentInfo(
                              key(entry.getKey()),
                              entry.getValue(),
                              0,
                              1,
                              0,
                              1,
                              new TreeMap<>(),
                              true)));

  private static SegmentKey key(int partition) {
    return new SegmentKey("orders", TOPIC_ID, partition, 0, "BBBBBBBBBBBBBBBBBBBBBQ");
  }

  @BeforeEach
  void partition() throws IOException {
    partition = directory("orders-3");
  }

  private Path directory(String name) throws IOException {
    return Files.createDirectory(logDirectory.resolve(name));
  }

  private static Path file(Path directory, String name, long millis) throws IOException {
    Path file = Files.createFile(directory.resolve(name));
    return Files.setLastModifiedTime(file, FileTime.fromMillis(millis));
  }

  private void led(Path directory, int number) {
    uncopied.led(key(number), directory.resolve("00000000000000000000.log"));
  }

  @Test
  void theOldestSealedSegmentBehindTheStoresEndCounts() throws IOException {
    Path unused = file(partition, "00000000000000000000.log", 10_000);
    unused = file(partition, "00000000000000000100.log", 20_000);
    unused = file(partition, "00000000000000000200.log", 30_000);
    unused = file(partition, "00000000000000000300.log", 40_000);
    assertThat(uncopied.oldestMillis()).as("of a partition that is not known").isEmpty();

    led(partition, 3);
    assertThat(uncopied.oldestMillis()).hasValue(10_000);
    copied.put(3, 99L);
    assertThat(uncopied.oldestMillis()).hasValue(20_000);
    copied.put(3, 299L);
    assertThat(uncopied.oldestMillis()).as("the active segment").isEmpty();
  }

  @Test
  void itIsTheOldestOfAllPartitionsThatAreThere() throws IOException {
    Path other = directory("orders-4");
    for (Path each : new Path[] {partition, other}) {
      Path unused = file(each, "00000000000000000000.log", each.equals(other) ? 5_000 : 10_000);
      unused = file(each, "00000000000000000100.log", 50_000);
    }
    led(partition, 3);
    led(other, 4);
    led(logDirectory.resolve("orders-5"), 5);
    assertThat(uncopied.oldestMillis()).hasValue(5_000);
    copied.put(4, 99L);
    assertThat(uncopied.oldestMillis()).hasValue(10_000);
  }

  /** Whatever else is in the directory: deleted ones, other files, and no offset of Kafka's. */
  @Test
  void onlySegmentsCount() throws IOException {
    for (String name :
        new String[] {
          "00000000000000000000.log.deleted",
          "00000000000000000000.index",
          "00000000000000000050.log.cleaned",
          "99999999999999999999.log",
          "leader-epoch-checkpoint",
          "00000000000000000060.logs"
        }) {
      Path unused = file(partition, name, 1_000);
    }
    Path unused = file(partition, "00000000000000000100.log", 20_000);
    led(partition, 3);
    assertThat(uncopied.oldestMillis()).as("nothing but the active segment").isEmpty();
    unused = file(partition, "00000000000000000200.log", 30_000);
    assertThat(uncopied.oldestMillis()).isEqualTo(OptionalLong.of(20_000));
  }
}
