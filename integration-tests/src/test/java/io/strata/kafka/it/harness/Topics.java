package io.strata.kafka.it.harness;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Collection;
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
import org.apache.kafka.common.TopicPartitionReplica;
import org.apache.kafka.common.config.ConfigResource;

/** What the tests ask of the admin client, waiting for each answer. */
public final class Topics {

  private Topics() {}

  /** Creates a topic with one replica; see {@link #create(Admin, NewTopic)}. */
  public static void create(
      StockBroker broker, String topic, int partitions, Map<String, String> config)
      throws InterruptedException {
    try (Admin admin = broker.admin()) {
      create(admin, new NewTopic(topic, partitions, (short) 1).configs(config));
    }
  }

  /**
   * Creates a topic and waits until every partition answers. A producer that comes earlier may have
   * its second batch accepted before its first, and an idempotent one then never gets further:
   * stock Kafka takes any first sequence number of a producer that it does not know.
   */
  public static void create(Admin admin, NewTopic topic) throws InterruptedException {
    await(admin.createTopics(List.of(topic)).all());
    int partitions =
        topic.replicasAssignments() == null
            ? topic.numPartitions()
            : topic.replicasAssignments().size();
    Map<TopicPartition, OffsetSpec> all =
        IntStream.range(0, partitions)
            .boxed()
            .collect(
                Collectors.toMap(
                    p -> new TopicPartition(topic.name(), p), p -> OffsetSpec.latest()));
    Waiting.await()
        .ignoreExceptions()
        .until(() -> admin.listOffsets(all).all().get().size() == partitions);
  }

  /** Creates a topic of one partition with these replicas, and waits until all are in sync. */
  public static void create(
      Admin admin, String topic, Map<String, String> config, Integer... replicas)
      throws InterruptedException {
    create(admin, new NewTopic(topic, Map.of(0, List.of(replicas))).configs(config));
    awaitState(admin, topic, replicas[0], Set.of(replicas));
  }

  /** Sets keys of a topic. */
  public static void alter(StockBroker broker, String topic, Map<String, String> config)
      throws InterruptedException {
    try (Admin admin = broker.admin()) {
      ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
      await(configure(admin, resource, AlterConfigOp.OpType.SET, config));
    }
  }

  /** Sets or takes back keys, of whatever. */
  public static KafkaFuture<Void> configure(
      Admin admin, ConfigResource of, AlterConfigOp.OpType type, Map<String, String> keys) {
    List<AlterConfigOp> changes =
        keys.entrySet().stream()
            .map(e -> new AlterConfigOp(new ConfigEntry(e.getKey(), e.getValue()), type))
            .toList();
    return admin.incrementalAlterConfigs(Map.of(of, changes)).all();
  }

  /** Deletes a topic. */
  public static void delete(StockBroker broker, String topic) throws InterruptedException {
    try (Admin admin = broker.admin()) {
      await(admin.deleteTopics(List.of(topic)).all());
    }
  }

  /** Waits until the topic's first partition has the leader and the in-sync replicas. */
  public static void awaitState(Admin admin, String topic, int leader, Set<Integer> inSync) {
    Waiting.await()
        .ignoreExceptions()
        .untilAsserted(() -> assertState(admin, topic, leader, inSync));
  }

  /** A topic of one partition has this leader, and these replicas in sync. */
  public static void assertState(Admin admin, String topic, int leader, Set<Integer> inSync)
      throws InterruptedException {
    TopicPartitionInfo now = state(admin, topic);
    assertThat(now.leader().id()).as("leader of %s", topic).isEqualTo(leader);
    assertThat(inSync(now)).as("in-sync replicas of %s", topic).isEqualTo(inSync);
  }

  /** A topic's first partition. */
  public static TopicPartitionInfo state(Admin admin, String topic) throws InterruptedException {
    return await(admin.describeTopics(List.of(topic)).allTopicNames())
        .values()
        .iterator()
        .next()
        .partitions()
        .get(0);
  }

  /** The brokers whose replicas are in sync. */
  public static Set<Integer> inSync(TopicPartitionInfo partition) {
    return partition.isr().stream().map(Node::id).collect(Collectors.toSet());
  }

  /** Waits until a partition has this many records and markers. */
  public static void awaitEnd(StockBroker broker, TopicPartition partition, long end) {
    try (Admin admin = broker.admin()) {
      Waiting.await()
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

  /** Has broker 1's replicas move to one of its log directories; does not wait. */
  public static void move(StockBroker broker, Path to, Collection<TopicPartition> partitions)
      throws InterruptedException {
    try (Admin admin = broker.admin()) {
      await(
          admin
              .alterReplicaLogDirs(
                  replicas(partitions).stream()
                      .collect(Collectors.toMap(replica -> replica, replica -> to.toString())))
              .all());
    }
  }

  /** Waits until they are there. */
  public static void awaitMoved(
      StockBroker broker, Path to, Collection<TopicPartition> partitions) {
    try (Admin admin = broker.admin()) {
      Waiting.await()
          .until(
              () ->
                  await(admin.describeReplicaLogDirs(replicas(partitions)).all()).values().stream()
                      .allMatch(
                          now ->
                              to.toString().equals(now.getCurrentReplicaLogDir())
                                  && now.getFutureReplicaLogDir() == null));
    }
  }

  private static List<TopicPartitionReplica> replicas(Collection<TopicPartition> partitions) {
    return partitions.stream()
        .map(each -> new TopicPartitionReplica(each.topic(), each.partition(), 1))
        .toList();
  }

  /** Broker 1's log directories by their paths, as Kafka describes them. */
  public static Map<String, LogDirDescription> logDirectories(StockBroker broker)
      throws InterruptedException {
    try (Admin admin = broker.admin()) {
      return await(admin.describeLogDirs(List.of(1)).allDescriptions()).values().iterator().next();
    }
  }

  /** The result, or an error that says what the broker answered. */
  public static <T> T await(KafkaFuture<T> future) throws InterruptedException {
    try {
      return future.get(Waiting.LIMIT.toSeconds(), TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new AssertionError("the broker did not do what the admin client asked", e);
    }
  }
}
