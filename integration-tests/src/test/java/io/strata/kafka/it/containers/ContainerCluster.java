package io.strata.kafka.it.containers;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.github.dockerjava.api.model.Network.Ipam;
import io.strata.kafka.it.harness.Installed;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.Topics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;
import org.testcontainers.containers.Network;

/**
 * Three brokers and three controllers, each in a container of its own. The test is a client in the
 * host's network, which reaches the containers by their addresses. Not thread-safe.
 */
final class ContainerCluster implements AutoCloseable {

  static final Duration PATIENCE = Duration.ofMinutes(10);
  static final String DATA = "/var/lib/kafka/data";
  static final String POOL = "/var/lib/kafka/pool/hot.pool";

  private static final String SUBNET = "172.29.117.";
  private static final int BROKERS = 3;
  private static final int CONTROLLERS = Integer.getInteger("strata.it.controllers", 3);
  private static final String FLAG = Installed.PROVIDER_FLAG;

  private final Network network;
  private final Map<Integer, ContainerNode> brokers = new TreeMap<>();
  private final List<ContainerNode> controllers = new ArrayList<>();
  private final List<String> volumes = new ArrayList<>();

  private ContainerCluster(Network network) {
    this.network = network;
  }

  /**
   * Starts one.
   *
   * @param image of all nodes
   * @param settings further ones of each broker
   */
  static ContainerCluster start(
      String name,
      String image,
      BiFunction<ContainerCluster, ContainerNode, ContainerNode> settings)
      throws Exception {
    Network network =
        Network.builder()
            .createNetworkCmdModifier(
                command ->
                    command.withIpam(
                        new Ipam().withConfig(new Ipam.Config().withSubnet(SUBNET + "0/24"))))
            .build();
    ContainerCluster cluster = new ContainerCluster(network);
    try {
      for (int i = 1; i <= CONTROLLERS; i++) {
        cluster.controllers.add(
            cluster
                .controller(name, i, image)
                .setAll(common())
                .set("KAFKA_NODE_ID", "" + (100 + i)));
      }
      for (int id = 1; id <= BROKERS; id++) {
        cluster.brokers.put(id, settings.apply(cluster, cluster.broker(name, id, image)));
      }
      for (ContainerNode node : cluster.nodes()) {
        ContainerNode unused = node.launch();
      }
      for (ContainerNode node : cluster.nodes()) {
        ContainerNode unused = node.awaitStarted();
      }
      return cluster;
    } catch (Throwable t) {
      cluster.close();
      throw t;
    }
  }

  private ContainerNode controller(String name, int number, String image) {
    String address = SUBNET + (20 + number);
    return new ContainerNode(network, "strata-it-" + name + "-controller-" + number, address, image)
        .set("KAFKA_PROCESS_ROLES", "controller")
        .set("KAFKA_LISTENERS", "CONTROLLER://:9093")
        .set("KAFKA_HEAP_OPTS", "-Xms96m -Xmx192m")
        // It is the controllers that say which topics may be tiered.
        .set("KAFKA_REMOTE_LOG_STORAGE_SYSTEM_ENABLE", "true")
        .volume(volume(name + "-controller-" + number), DATA);
  }

  private ContainerNode broker(String name, int id, String image) {
    String address = SUBNET + (10 + id);
    return new ContainerNode(network, "strata-it-" + name + "-broker-" + id, address, image)
        .setAll(common())
        .set("KAFKA_NODE_ID", "" + id)
        .set("KAFKA_PROCESS_ROLES", "broker")
        .set("KAFKA_LISTENERS", "PLAINTEXT://:9092")
        .set("KAFKA_ADVERTISED_LISTENERS", "PLAINTEXT://" + address + ":9092")
        .set("KAFKA_HEAP_OPTS", "-Xms160m -Xmx288m")
        .set("KAFKA_LOG_SEGMENT_BYTES", "1048576")
        .set("KAFKA_LOG_CLEANER_DEDUPE_BUFFER_SIZE", "8388608")
        .set("KAFKA_LOG_INDEX_SIZE_MAX_BYTES", "262144")
        .set("KAFKA_DEFAULT_REPLICATION_FACTOR", "3")
        .set("KAFKA_LOG_RETENTION_CHECK_INTERVAL_MS", "2000")
        .set("KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR", "3")
        .set("KAFKA_OFFSETS_TOPIC_NUM_PARTITIONS", "3")
        .set("KAFKA_NUM_NETWORK_THREADS", "2")
        .set("KAFKA_NUM_IO_THREADS", "4")
        .set("KAFKA_AUTO_LEADER_REBALANCE_ENABLE", "false")
        .volume(volume(name + "-data-" + id), DATA);
  }

  private static Map<String, String> common() {
    return Map.of(
        "CLUSTER_ID",
        "U3RyYXRhSW5Db250YWluZQ",
        "KAFKA_LOG_DIRS",
        DATA + "/logs",
        "KAFKA_CONTROLLER_LISTENER_NAMES",
        "CONTROLLER",
        "KAFKA_INTER_BROKER_LISTENER_NAME",
        "PLAINTEXT",
        // The controllers' value is the cluster's.
        "KAFKA_MIN_INSYNC_REPLICAS",
        "2",
        "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP",
        "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "KAFKA_CONTROLLER_QUORUM_VOTERS",
        java.util.stream.IntStream.rangeClosed(1, CONTROLLERS)
            .mapToObj(i -> (100 + i) + "@" + SUBNET + (20 + i) + ":9093")
            .collect(Collectors.joining(",")),
        "KAFKA_JVM_PERFORMANCE_OPTS",
        "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:MaxDirectMemorySize=96m");
  }

  // ---------------------------------------------------------------------------------------------
  // Strata
  // ---------------------------------------------------------------------------------------------

  /** Adds what a broker with a pool has; takes effect with its next container. */
  ContainerNode withStrata(ContainerNode broker, String image, String type) {
    return broker
        .image(image)
        .set("KAFKA_OPTS", FLAG)
        .set("KAFKA_STRATA_POOLS", POOL)
        .set("KAFKA_STRATA_POOL_CREATE", "24MiB")
        .set("KAFKA_STRATA_POOL_TYPE", type)
        .set("KAFKA_STRATA_MIGRATION_THRESHOLD", "0.3")
        .set(
            "KAFKA_METRIC_REPORTERS",
            "org.apache.kafka.common.metrics.JmxReporter,io.strata.kafka.StrataReporter")
        .volume(volume("pool-" + broker.address()), "/var/lib/kafka/pool");
  }

  /** Takes all of it away: a stock broker on the same log directories. */
  static ContainerNode withoutStrata(ContainerNode broker, String image) {
    for (String key : broker.environment().keySet()) {
      if (key.startsWith("KAFKA_STRATA_")) {
        ContainerNode unused = broker.unset(key);
      }
    }
    return broker.image(image).unset("KAFKA_OPTS").unset("KAFKA_METRIC_REPORTERS");
  }

  /** Adds Strata's remote tier on a volume that all brokers share. */
  ContainerNode withRemoteTier(ContainerNode broker) {
    return broker
        .set("KAFKA_REMOTE_LOG_STORAGE_SYSTEM_ENABLE", "true")
        .set(
            "KAFKA_REMOTE_LOG_STORAGE_MANAGER_CLASS_NAME",
            "io.strata.kafka.migration.remote.StrataRemoteStorageManager")
        .set("KAFKA_REMOTE_LOG_METADATA_MANAGER_LISTENER_NAME", "PLAINTEXT")
        .set("KAFKA_REMOTE_LOG_MANAGER_TASK_INTERVAL_MS", "1000")
        .set("KAFKA_REMOTE_LOG_INDEX_FILE_CACHE_TOTAL_SIZE_BYTES", "16777216")
        .set("KAFKA_RLMM_CONFIG_REMOTE_LOG_METADATA_TOPIC_REPLICATION_FACTOR", "3")
        .set("KAFKA_RLMM_CONFIG_REMOTE_LOG_METADATA_TOPIC_NUM_PARTITIONS", "3")
        .set("KAFKA_RSM_CONFIG_LEVELS", "shared")
        .set("KAFKA_RSM_CONFIG_SHARED_DIRECTORIES", "/var/lib/kafka/remote")
        .volume(volume("remote"), "/var/lib/kafka/remote");
  }

  private String volume(String name) {
    String volume = "strata-it-" + name;
    if (!volumes.contains(volume)) {
      volumes.add(volume);
    }
    return volume;
  }

  // ---------------------------------------------------------------------------------------------
  // nodes, topics
  // ---------------------------------------------------------------------------------------------

  Collection<ContainerNode> nodes() {
    List<ContainerNode> all = new ArrayList<>(controllers);
    all.addAll(brokers.values());
    return all;
  }

  Map<Integer, ContainerNode> brokers() {
    return brokers;
  }

  ContainerNode broker(int id) {
    return java.util.Objects.requireNonNull(brokers.get(id));
  }

  /** The addresses of all brokers. */
  String bootstrap() {
    return brokers.values().stream().map(ContainerNode::bootstrap).collect(Collectors.joining(","));
  }

  Admin admin() {
    return Admin.create(
        Map.of(
            CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG,
            bootstrap(),
            CommonClientConfigs.REQUEST_TIMEOUT_MS_CONFIG,
            "60000",
            CommonClientConfigs.DEFAULT_API_TIMEOUT_MS_CONFIG,
            "240000"));
  }

  /** Creates a topic whose partition p is led by broker p mod 3 + 1, with three replicas. */
  RecordLedger create(String topic, int partitions, long seed, Map<String, String> config)
      throws InterruptedException {
    Map<Integer, List<Integer>> replicas = new TreeMap<>();
    for (int p = 0; p < partitions; p++) {
      replicas.put(p, List.of(p % 3 + 1, (p + 1) % 3 + 1, (p + 2) % 3 + 1));
    }
    try (Admin admin = admin()) {
      Topics.create(admin, new NewTopic(topic, replicas).configs(config));
    }
    awaitInSync();
    try (Admin admin = admin()) {
      ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
      Config inEffect =
          Topics.await(admin.describeConfigs(Set.of(resource)).all()).values().iterator().next();
      assertThat(inEffect.get("min.insync.replicas").value()).isEqualTo("2");
    }
    return new RecordLedger(topic, partitions, seed);
  }

  /** Waits until all partitions of all topics have all their replicas in sync. */
  void awaitInSync() {
    try (Admin admin = admin()) {
      await()
          .atMost(PATIENCE)
          .pollInterval(Duration.ofSeconds(1))
          .ignoreExceptions()
          .untilAsserted(
              () -> {
                List<String> behind = new ArrayList<>();
                for (TopicDescription topic : describe(admin)) {
                  for (TopicPartitionInfo partition : topic.partitions()) {
                    if (partition.leader() == null
                        || partition.isr().size() < partition.replicas().size()) {
                      behind.add(topic.name() + "-" + partition);
                    }
                  }
                }
                assertThat(behind).as("partitions that are not in sync").isEmpty();
              });
    }
  }

  /** Waits until the brokers lead no partition. */
  void awaitLeadsNothing(int id) {
    try (Admin admin = admin()) {
      await()
          .atMost(PATIENCE)
          .pollInterval(Duration.ofSeconds(1))
          .ignoreExceptions()
          .untilAsserted(
              () ->
                  assertThat(describe(admin))
                      .allSatisfy(
                          topic ->
                              assertThat(topic.partitions())
                                  .allMatch(p -> p.leader() != null && p.leader().id() != id)));
    }
  }

  private static Collection<TopicDescription> describe(Admin admin) throws Exception {
    Set<String> names =
        admin
            .listTopics(new org.apache.kafka.clients.admin.ListTopicsOptions().listInternal(true))
            .names()
            .get();
    return admin.describeTopics(names).allTopicNames().get().values();
  }

  /** Each partition's first replica leads it again. */
  void preferredLeaders(String topic, int partitions) throws InterruptedException {
    Set<TopicPartition> all =
        java.util.stream.IntStream.range(0, partitions)
            .mapToObj(p -> new TopicPartition(topic, p))
            .collect(Collectors.toSet());
    try (Admin admin = admin()) {
      // An error for those that have it already.
      admin.electLeaders(ElectionType.PREFERRED, all).partitions().get();
    } catch (java.util.concurrent.ExecutionException e) {
      throw new AssertionError("no election in " + topic, e);
    }
  }

  /** Makes one broker the leader of all partitions of a topic, which has replicas on each. */
  void lead(String topic, int partitions, int leader) throws InterruptedException {
    Map<TopicPartition, Optional<NewPartitionReassignment>> order = new HashMap<>();
    for (int p = 0; p < partitions; p++) {
      List<Integer> replicas = new ArrayList<>(brokers.keySet());
      replicas.remove(Integer.valueOf(leader));
      replicas.add(0, leader);
      order.put(new TopicPartition(topic, p), Optional.of(new NewPartitionReassignment(replicas)));
    }
    try (Admin admin = admin()) {
      Topics.await(admin.alterPartitionReassignments(order).all());
      preferredLeaders(topic, partitions);
      await()
          .atMost(PATIENCE)
          .ignoreExceptions()
          .untilAsserted(
              () ->
                  assertThat(
                          admin
                              .describeTopics(List.of(topic))
                              .allTopicNames()
                              .get()
                              .values()
                              .iterator()
                              .next()
                              .partitions())
                      .allMatch(p -> p.leader() != null && p.leader().id() == leader));
    }
  }

  /** Stops, starts and awaits each broker in turn, the others serving meanwhile. */
  void roll(UnaryOperator<ContainerNode> whileStopped) throws Exception {
    for (int id : List.copyOf(brokers.keySet())) {
      ContainerNode unused = whileStopped.apply(broker(id).stop());
      unused = broker(id).start();
      awaitInSync();
    }
  }

  @Override
  public void close() {
    for (ContainerNode node : nodes()) {
      node.close();
    }
    network.close();
  }
}
