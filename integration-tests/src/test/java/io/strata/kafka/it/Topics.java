package io.strata.kafka.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.LogDirDescription;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;
import org.awaitility.Awaitility;

/** What the tests ask of the admin client, waiting for each answer. */
final class Topics {

  private static final long LIMIT_SECONDS = 300;

  private Topics() {}

  /**
   * Creates a topic with one replica and waits until every partition answers. A producer that comes
   * earlier may have its second batch accepted before its first, and an idempotent one then never
   * gets further: stock Kafka takes any first sequence number of a producer that it does not know.
   */
  static void create(StockBroker broker, String topic, int partitions, Map<String, String> config)
      throws InterruptedException {
    try (Admin admin = broker.admin()) {
      await(
          admin
              .createTopics(List.of(new NewTopic(topic, partitions, (short) 1).configs(config)))
              .all());
      Map<TopicPartition, OffsetSpec> all =
          IntStream.range(0, partitions)
              .boxed()
              .collect(
                  Collectors.toMap(p -> new TopicPartition(topic, p), p -> OffsetSpec.latest()));
      Awaitility.await()
          .atMost(Duration.ofSeconds(LIMIT_SECONDS))
          .ignoreExceptions()
          .until(() -> admin.listOffsets(all).all().get().size() == partitions);
    }
  }

  /** Sets keys of a topic. */
  static void alter(StockBroker broker, String topic, Map<String, String> config)
      throws InterruptedException {
    List<AlterConfigOp> changes =
        config.entrySet().stream()
            .map(
                e ->
                    new AlterConfigOp(
                        new ConfigEntry(e.getKey(), e.getValue()), AlterConfigOp.OpType.SET))
            .toList();
    try (Admin admin = broker.admin()) {
      await(
          admin
              .incrementalAlterConfigs(
                  Map.of(new ConfigResource(ConfigResource.Type.TOPIC, topic), changes))
              .all());
    }
  }

  /** Deletes a topic. */
  static void delete(StockBroker broker, String topic) throws InterruptedException {
    try (Admin admin = broker.admin()) {
      await(admin.deleteTopics(List.of(topic)).all());
    }
  }

  /** Waits until the topic's first partition has the leader and the in-sync replicas. */
  static void awaitState(Admin admin, String topic, int leader, Set<Integer> inSync) {
    Awaitility.await()
        .atMost(Tiers.PATIENCE)
        .ignoreExceptions()
        .untilAsserted(() -> assertState(admin, topic, leader, inSync));
  }

  /** A topic of one partition has this leader, and these replicas in sync. */
  static void assertState(Admin admin, String topic, int leader, Set<Integer> inSync)
      throws InterruptedException {
    TopicPartitionInfo now =
        await(admin.describeTopics(List.of(topic)).allTopicNames())
            .values()
            .iterator()
            .next()
            .partitions()
            .get(0);
    assertThat(now.leader().id()).as("leader of %s", topic).isEqualTo(leader);
    assertThat(now.isr().stream().map(Node::id).collect(Collectors.toSet()))
        .as("in-sync replicas of %s", topic)
        .isEqualTo(inSync);
  }

  /** Waits until a partition has this many records and markers. */
  static void awaitEnd(StockBroker broker, TopicPartition partition, long end) {
    try (Admin admin = broker.admin()) {
      Awaitility.await()
          .atMost(Tiers.PATIENCE)
          .ignoreExceptions()
          .untilAsserted(
              () ->
                  assertThat(
                          await(
                                  admin
                                      .listOffsets(Map.of(partition, OffsetSpec.latest()))
                                      .partitionResult(partition))
                              .offset())
                      .as("end of %s", partition)
                      .isEqualTo(end));
    }
  }

  /** Broker 1's log directories, as Kafka describes them. */
  static List<LogDirDescription> logDirectories(StockBroker broker) throws InterruptedException {
    try (Admin admin = broker.admin()) {
      return await(admin.describeLogDirs(List.of(1)).allDescriptions()).values().stream()
          .flatMap(each -> each.values().stream())
          .toList();
    }
  }

  /** The result, or an error that says what the broker answered. */
  static <T> T await(KafkaFuture<T> future) throws InterruptedException {
    try {
      return future.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new AssertionError("the broker did not do what the admin client asked", e);
    }
  }
}
