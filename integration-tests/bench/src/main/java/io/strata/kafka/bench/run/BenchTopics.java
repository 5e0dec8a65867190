package io.strata.kafka.bench.run;

import io.strata.kafka.bench.scenario.Scenario;
import io.strata.kafka.bench.scenario.TopicSpec;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** The topics of a run: created for it, with names that no other run has. */
final class BenchTopics implements AutoCloseable {
  private static final long LIMIT_SECONDS = 120;

  private final Admin admin;
  private final Map<String, List<String>> names = new LinkedHashMap<>();

  BenchTopics(Scenario scenario) {
    Map<String, Object> properties = new HashMap<>(scenario.kafka());
    properties.put("bootstrap.servers", scenario.bootstrap());
    admin = Admin.create(properties);
  }

  /** What the cluster is. */
  Map<String, String> cluster() throws BenchmarkException {
    return Map.of(
        "id",
        get("the cluster", admin.describeCluster().clusterId()),
        "brokers",
        Integer.toString(nodes().size()));
  }

  /** The brokers. */
  Collection<Node> nodes() throws BenchmarkException {
    return get("the cluster", admin.describeCluster().nodes());
  }

  /** Creates all topics, and waits until each partition has a leader. */
  void create(Scenario scenario) throws BenchmarkException {
    String run = Long.toString(System.currentTimeMillis() % 2_176_782_336L, Character.MAX_RADIX);
    List<NewTopic> topics = new ArrayList<>();
    scenario
        .topics()
        .forEach(
            (name, spec) -> {
              List<String> own = names(scenario, run, name, spec);
              names.put(name, own);
              own.forEach(
                  topic ->
                      topics.add(
                          new NewTopic(topic, spec.partitions(), (short) spec.replication())
                              .configs(spec.config())));
            });
    get("the topics", admin.createTopics(topics).all());
    awaitLeaders();
    // A leader may be known before it has its log; this asks each, and asks again.
    Map<TopicPartition, OffsetSpec> partitions = new HashMap<>();
    topics.forEach(
        topic -> {
          for (int p = 0; p < topic.numPartitions(); p++) {
            partitions.put(new TopicPartition(topic.name(), p), OffsetSpec.latest());
          }
        });
    get("the topics' leaders", admin.listOffsets(partitions).all());
  }

  private void awaitLeaders() throws BenchmarkException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
    while (!haveLeaders()) {
      if (System.nanoTime() > end) {
        throw new BenchmarkException(
            "the topics: found partitions without a leader after %d s".formatted(LIMIT_SECONDS));
      }
      pause();
    }
  }

  private static List<String> names(Scenario scenario, String run, String name, TopicSpec spec) {
    String prefix = "bench-%s-%s-%s".formatted(scenario.name(), run, name);
    if (!spec.perClient()) {
      return List.of(prefix);
    }
    List<String> own = new ArrayList<>();
    for (int i = 0; i < scenario.clientsOf(name); i++) {
      own.add("%s-%d".formatted(prefix, i));
    }
    return own;
  }

  private boolean haveLeaders() throws BenchmarkException {
    try {
      return admin
          .describeTopics(all())
          .allTopicNames()
          .get(LIMIT_SECONDS, TimeUnit.SECONDS)
          .values()
          .stream()
          .flatMap(topic -> topic.partitions().stream())
          .map(TopicPartitionInfo::leader)
          .allMatch(leader -> leader != null && !leader.isEmpty());
    } catch (ExecutionException e) {
      if (e.getCause() instanceof UnknownTopicOrPartitionException) {
        return false;
      }
      throw new BenchmarkException("the topics: " + e.getCause());
    } catch (InterruptedException | TimeoutException e) {
      throw failed("the topics", e);
    }
  }

  /** The topics in the cluster, by their names in the scenario. */
  Map<String, List<String>> names() {
    return names;
  }

  private List<String> all() {
    return names.values().stream().flatMap(Collection::stream).toList();
  }

  /** The bytes of the leaders of a topic of the scenario, in log directories. */
  long logSize(String name) throws BenchmarkException {
    List<String> topics = Optional.ofNullable(names.get(name)).orElse(List.of());
    Map<Integer, List<String>> leaders = new HashMap<>();
    get("the topics", admin.describeTopics(topics).allTopicNames())
        .values()
        .forEach(
            topic ->
                topic
                    .partitions()
                    .forEach(
                        p ->
                            leaders
                                .computeIfAbsent(p.leader().id(), id -> new ArrayList<>())
                                .add(topic.name() + "-" + p.partition())));
    long size = 0;
    var directories =
        get("the log directories", admin.describeLogDirs(leaders.keySet()).allDescriptions());
    for (var broker : directories.entrySet()) {
      List<String> led = Optional.ofNullable(leaders.get(broker.getKey())).orElse(List.of());
      size +=
          broker.getValue().values().stream()
              .flatMap(directory -> directory.replicaInfos().entrySet().stream())
              .filter(replica -> led.contains(replica.getKey().toString()))
              .mapToLong(replica -> replica.getValue().size())
              .sum();
    }
    return size;
  }

  /** Deletes what was created. */
  void delete() throws BenchmarkException {
    if (!names.isEmpty()) {
      get("the topics' deletion", admin.deleteTopics(all()).all());
      names.clear();
    }
  }

  private static void pause() throws BenchmarkException {
    try {
      TimeUnit.MILLISECONDS.sleep(50);
    } catch (InterruptedException e) {
      throw failed("the topics", e);
    }
  }

  private static <T> T get(String what, org.apache.kafka.common.KafkaFuture<T> future)
      throws BenchmarkException {
    try {
      return future.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new BenchmarkException("%s: %s".formatted(what, e.getCause()));
    } catch (InterruptedException | TimeoutException e) {
      throw failed(what, e);
    }
  }

  private static BenchmarkException failed(String what, Exception e) {
    if (e instanceof InterruptedException) {
      Thread.currentThread().interrupt();
    }
    return new BenchmarkException(
        "%s: found no answer in %d s (%s)".formatted(what, LIMIT_SECONDS, e));
  }

  @Override
  public void close() {
    admin.close();
  }
}
