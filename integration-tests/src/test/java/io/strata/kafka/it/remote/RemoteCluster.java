package io.strata.kafka.it.remote;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
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
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;

/**
 * Three brokers, 1 to 3, each in a JVM of its own, with one store. The first is the controller, and
 * stays. Not thread-safe.
 */
public final class RemoteCluster implements AutoCloseable {

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
  public static RemoteCluster start(
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

  public Collection<StockBroker> brokers() {
    return brokers.values();
  }

  public StockBroker broker(int id) {
    return Optional.ofNullable(brokers.get(id)).orElseThrow();
  }

  /** The addresses of all. */
  public String bootstrap() {
    return brokers().stream().map(StockBroker::bootstrap).collect(Collectors.joining(","));
  }

  /** Of the first broker. */
  public Admin admin() {
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

  /** A topic of one partition, whose replicas are in sync, and what is known of its records. */
  public RecordLedger topic(String topic, Map<String, String> config, Integer... replicas)
      throws InterruptedException {
    Topics.create(admin, topic, config, replicas);
    return new RecordLedger(topic, 1, topic.hashCode());
  }

  public void reassign(String topic, Integer... replicas) throws InterruptedException {
    Topics.await(
        admin
            .alterPartitionReassignments(
                Map.of(
                    new TopicPartition(topic, 0),
                    Optional.of(new NewPartitionReassignment(List.of(replicas)))))
            .all());
  }

  /** Waits until partition 0 has that leader and those replicas in sync. */
  public void awaitState(String topic, int leader, Set<Integer> inSync) {
    Topics.awaitState(admin, topic, leader, inSync);
  }

  /** Waits until partition 0 has a leader and those replicas in sync. */
  public void awaitInSync(String topic, Set<Integer> inSync) {
    await()
        .ignoreExceptions()
        .untilAsserted(
            () ->
                assertThat(Topics.inSync(state(topic)))
                    .as("in-sync replicas of %s", topic)
                    .isEqualTo(inSync));
  }

  /** Partition 0. */
  public TopicPartitionInfo state(String topic) throws InterruptedException {
    return Topics.state(admin, topic);
  }

  @Override
  public void close() {
    admin.close(Duration.ofSeconds(1));
  }
}
