package io.strata.kafka.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;

/**
 * Three brokers, 1 to 3, each in a JVM of its own, with one store. The first is the controller, and
 * stays. Not thread-safe.
 */
final class RemoteCluster implements AutoCloseable {

  private static final Duration START_LIMIT = Duration.ofMinutes(2);

  private final Map<Integer, StockBroker> brokers = new TreeMap<>();
  private final Admin admin;

  private RemoteCluster(Map<Integer, StockBroker> brokers) {
    this.brokers.putAll(brokers);
    admin = broker(1).admin();
  }

  /**
   * Starts one.
   *
   * @param work for its folders, whose names begin with {@code name}
   * @param settings further ones of each broker
   */
  static RemoteCluster start(
      Workspace work, String name, TieredBrokers tier, UnaryOperator<StockBroker.Builder> settings)
      throws Exception {
    Map<Integer, StockBroker> brokers = new TreeMap<>();
    List<StockBroker> started = new ArrayList<>();
    for (int id = 1; id <= 3; id++) {
      StockBroker.Builder builder =
          settings.apply(
              tier.alone(work.folder(name + "-" + id))
                  .set("auto.leader.rebalance.enable", "false")
                  .set("offsets.topic.replication.factor", "3")
                  .set("transaction.state.log.replication.factor", "3")
                  .set("rlmm.config.remote.log.metadata.topic.replication.factor", "3")
                  .set("broker.rack", "rack-" + id)
                  .set(
                      "replica.selector.class",
                      "org.apache.kafka.common.replica.RackAwareReplicaSelector"));
      StockBroker broker =
          (started.isEmpty() ? builder : builder.joining(started.get(0), id)).build();
      brokers.put(id, broker);
      started.add(work.closing(broker));
    }
    for (StockBroker broker : started) {
      broker.startWithoutWaiting();
    }
    for (StockBroker broker : started) {
      String unused = broker.awaitOutput("Kafka Server started", START_LIMIT);
    }
    return work.closing(new RemoteCluster(brokers));
  }

  Collection<StockBroker> brokers() {
    return brokers.values();
  }

  StockBroker broker(int id) {
    return Optional.ofNullable(brokers.get(id)).orElseThrow();
  }

  /** The addresses of all. */
  String bootstrap() {
    return brokers().stream().map(StockBroker::bootstrap).collect(Collectors.joining(","));
  }

  /** Of the first broker. */
  Admin admin() {
    return admin;
  }

  /** Starts those that do not run. */
  void startAll() throws Exception {
    for (StockBroker broker : brokers()) {
      if (!broker.isRunning()) {
        broker.close();
        StockBroker unused = broker.start();
      }
    }
  }

  /** Creates a topic of one partition, and waits for its replicas. */
  void createTopic(String topic, Map<String, String> config, Integer... replicas)
      throws InterruptedException {
    Topics.await(
        admin
            .createTopics(
                List.of(new NewTopic(topic, Map.of(0, List.of(replicas))).configs(config)))
            .all());
    awaitState(topic, replicas[0], Set.of(replicas));
  }

  void reassign(String topic, Integer... replicas) throws InterruptedException {
    Topics.await(
        admin
            .alterPartitionReassignments(
                Map.of(
                    new TopicPartition(topic, 0),
                    Optional.of(new NewPartitionReassignment(List.of(replicas)))))
            .all());
  }

  /** Waits until partition 0 has that leader and those replicas in sync. */
  void awaitState(String topic, int leader, Set<Integer> inSync) {
    await()
        .atMost(Tiers.PATIENCE)
        .ignoreExceptions()
        .untilAsserted(
            () -> {
              TopicPartitionInfo now = state(topic);
              assertThat(now.leader().id()).as("leader of %s", topic).isEqualTo(leader);
              assertThat(now.isr().stream().map(Node::id).collect(Collectors.toSet()))
                  .as("in-sync replicas of %s", topic)
                  .isEqualTo(inSync);
            });
  }

  /** Waits until partition 0 has a leader and those replicas in sync. */
  void awaitInSync(String topic, Set<Integer> inSync) {
    await()
        .atMost(Tiers.PATIENCE)
        .ignoreExceptions()
        .untilAsserted(
            () ->
                assertThat(state(topic).isr().stream().map(Node::id).collect(Collectors.toSet()))
                    .as("in-sync replicas of %s", topic)
                    .isEqualTo(inSync));
  }

  /** Partition 0. */
  TopicPartitionInfo state(String topic) throws InterruptedException {
    return Topics.await(admin.describeTopics(List.of(topic)).allTopicNames())
        .values()
        .iterator()
        .next()
        .partitions()
        .get(0);
  }

  @Override
  public void close() {
    admin.close(Duration.ofSeconds(1));
  }
}
