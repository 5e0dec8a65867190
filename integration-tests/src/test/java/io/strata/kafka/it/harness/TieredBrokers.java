package io.strata.kafka.it.harness;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;

/** Brokers with Kafka's tiered storage, and what tests ask about it. */
public final class TieredBrokers {

  /** Kafka's smallest. */
  public static final int SEGMENT = 1 << 20;

  private final RemoteManager manager;
  private final List<Path> directories;

  private TieredBrokers(RemoteManager manager, List<Path> directories) {
    this.manager = manager;
    this.directories = directories;
  }

  /** Over the directories, with the manager of this run. */
  public static TieredBrokers over(Path... directories) {
    return new TieredBrokers(RemoteManager.ofThisRun(), List.copyOf(Arrays.asList(directories)));
  }

  /** The same with another manager. */
  public TieredBrokers with(RemoteManager other) {
    return new TieredBrokers(other, directories);
  }

  public RemoteManager manager() {
    return manager;
  }

  /** Where the store is: a directory for each level, fastest first. */
  public List<Path> directories() {
    return directories;
  }

  // ---------------------------------------------------------------------------------------------
  // brokers
  // ---------------------------------------------------------------------------------------------

  /** Switches tiered storage on; everything that Kafka does about it now and then, it does soon. */
  public StockBroker.Builder configure(StockBroker.Builder builder) {
    builder
        .set("remote.log.storage.system.enable", "true")
        .set("remote.log.storage.manager.class.name", manager.className())
        .set("remote.log.metadata.manager.listener.name", "PLAINTEXT")
        .set("remote.log.manager.task.interval.ms", "200")
        .set("remote.log.manager.task.retry.backoff.ms", "200")
        .set("remote.log.manager.task.retry.backoff.max.ms", "1000")
        .set("rlmm.config.remote.log.metadata.topic.replication.factor", "1")
        .set("rlmm.config.remote.log.metadata.topic.num.partitions", "3")
        .set("rlmm.config.remote.log.metadata.initialization.retry.interval.ms", "300");
    return manager.configure(builder, directories);
  }

  /** A stock broker of small segments, without pools and provider; with our jar if it is ours. */
  public StockBroker.Builder alone(Path folder) {
    StockBroker.Builder builder = configure(Tiers.plain(folder)).jmx();
    return manager == RemoteManager.STRATA ? builder.jarAlone() : builder;
  }

  /** A broker with pools. */
  public StockBroker.Builder withPools(Path folder, Path... pools) {
    return configure(Tiers.broker(folder, pools));
  }

  /** A topic's settings: what is sealed goes to the store, and then at once from here. */
  public static Map<String, String> topic(String... more) {
    Map<String, String> config =
        new HashMap<>(
            Map.of(
                "remote.storage.enable", "true",
                "segment.bytes", "" + SEGMENT,
                "local.retention.bytes", "1",
                "file.delete.delay.ms", "100"));
    for (int i = 0; i < more.length; i += 2) {
      config.put(more[i], more[i + 1]);
    }
    return config;
  }

  // ---------------------------------------------------------------------------------------------
  // what Kafka says
  // ---------------------------------------------------------------------------------------------

  /** A partition's offsets, as Kafka answers them. */
  public record Offsets(long earliest, long earliestLocal, long latestTiered, long latest) {}

  public static Offsets offsets(StockBroker broker, String topic, int partition)
      throws InterruptedException {
    TopicPartition asked = new TopicPartition(topic, partition);
    try (Admin admin = broker.admin()) {
      return new Offsets(
          offset(admin, asked, OffsetSpec.earliest()),
          offset(admin, asked, OffsetSpec.earliestLocal()),
          offset(admin, asked, OffsetSpec.latestTiered()),
          offset(admin, asked, OffsetSpec.latest()));
    }
  }

  private static long offset(Admin admin, TopicPartition partition, OffsetSpec which)
      throws InterruptedException {
    return Topics.await(admin.listOffsets(Map.of(partition, which)).partitionResult(partition))
        .offset();
  }

  /**
   * Waits until every sealed segment of the topic, of which each partition has so many at least, is
   * in the store and nowhere else.
   *
   * @param leader of all its partitions
   */
  public void awaitTiered(StockBroker leader, String topic, int partitions, int segments) {
    await()
        .untilAsserted(
            () -> {
              for (int p = 0; p < partitions; p++) {
                assertThat(LogFiles.segments(LogFiles.partition(leader, topic, p)))
                    .as("local segments of %s-%d", topic, p)
                    .hasSize(1);
              }
            });
    await()
        .untilAsserted(
            () -> {
              for (int p = 0; p < partitions; p++) {
                assertThat(segments(topic, p))
                    .as("segments of %s-%d in the store", topic, p)
                    .hasSizeGreaterThanOrEqualTo(segments);
                Offsets offsets = offsets(leader, topic, p);
                assertThat(offsets.latestTiered())
                    .as("last offset of %s-%d in the store, %s", topic, p, offsets)
                    .isEqualTo(offsets.earliestLocal() - 1);
              }
            });
  }

  // ---------------------------------------------------------------------------------------------
  // what is in the store
  // ---------------------------------------------------------------------------------------------

  /** All segments; one that is in two levels is there once. */
  public List<RemoteManager.Segment> segments() throws IOException {
    Map<String, RemoteManager.Segment> all = new LinkedHashMap<>();
    for (Path directory : directories) {
      for (RemoteManager.Segment segment : manager.segments(directory)) {
        RemoteManager.Segment unused = all.putIfAbsent(segment.id(), segment);
      }
    }
    return List.copyOf(all.values());
  }

  /** A topic's. */
  public List<RemoteManager.Segment> segments(String topic) throws IOException {
    return segments().stream().filter(s -> s.topic().equals(topic)).toList();
  }

  /** A partition's. */
  public List<RemoteManager.Segment> segments(String topic, int partition) throws IOException {
    return segments(topic).stream().filter(s -> s.partition() == partition).toList();
  }

  /** Runs {@code strata remote scrub}, which asks the broker what Kafka knows of. */
  public static JavaProcess.Finished scrubAsking(StockBroker broker, String... more)
      throws IOException, InterruptedException {
    List<String> arguments = new ArrayList<>(List.of("remote", "scrub"));
    arguments.addAll(List.of("--config", broker.propertiesFile().toString()));
    arguments.addAll(List.of("--bootstrap-server", broker.bootstrap()));
    arguments.addAll(List.of(more));
    return broker.tool("io.strata.kafka.cli.Main", arguments.toArray(String[]::new));
  }

  /** Waits until the store has nothing of the topic: no segment, and no file of one. */
  public void awaitNothingOf(String topic) {
    await()
        .untilAsserted(
            () -> {
              for (Path directory : directories) {
                assertThat(RemoteManager.files(directory))
                    .as("files in the store")
                    .noneMatch(file -> mentions(directory.relativize(file), topic));
              }
            });
  }

  private static boolean mentions(Path file, String topic) {
    for (Path part : file) {
      String name = part.toString();
      if (name.equals(topic) || name.startsWith(topic + "-")) {
        return true;
      }
    }
    return false;
  }
}
