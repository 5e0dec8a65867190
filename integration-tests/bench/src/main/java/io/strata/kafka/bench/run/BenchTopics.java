package io.strata.kafka.bench.run;

import io.strata.kafka.bench.scenario.Scenario;
import io.strata.kafka.bench.scenario.TopicSpec;
import java.io.IOException;
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
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;

/** The topics of a run: created for it, with names that no other run has. */
final class BenchTopics implements AutoCloseable {
  private static final long LIMIT_SECONDS = 120;

  /** How long one look for an answer takes, before the next look at the broker's process. */
  private static final long LOOK_MILLIS = 500;

  /**
   * How the admin client comes back to a broker that starts: soon, for that time is a figure. The
   * scenario's own properties go before these.
   */
  private static final Map<String, String> COMES_BACK =
      Map.of(
          "reconnect.backoff.ms", "20",
          "reconnect.backoff.max.ms", "50",
          "retry.backoff.ms", "20",
          "retry.backoff.max.ms", "50");

  private final Admin admin;
  private final Map<String, List<String>> names = new LinkedHashMap<>();
  private final Map<TopicPartition, OffsetSpec> partitions = new HashMap<>();

  BenchTopics(Scenario scenario) {
    Map<String, Object> properties = new HashMap<>(COMES_BACK);
    properties.putAll(scenario.kafka());
    properties.put("bootstrap.servers", scenario.bootstrap());
    admin = Admin.create(properties);
  }

  /** Returns facts about the cluster. */
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

  /** Creates all topics, and waits until they are served. */
  void create(Scenario scenario) throws BenchmarkException, IOException {
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
    for (NewTopic topic : topics) {
      // One at a time: a controller refuses a request for more than 10,000 partitions.
      get("the topics", admin.createTopics(List.of(topic)).all());
      for (int p = 0; p < topic.numPartitions(); p++) {
        partitions.put(new TopicPartition(topic.name(), p), OffsetSpec.latest());
      }
    }
    awaitServed(LIMIT_SECONDS, () -> {});
  }

  /** Looks at a broker's process. */
  interface Look {
    /** Returns if the broker may still come to serve; otherwise throws why it will not. */
    void look() throws IOException;
  }

  /**
   * Waits until each partition has a leader that answers. A leader may be known before it has its
   * log: each is asked for the end of it.
   *
   * @param broker looked at again and again meanwhile
   */
  void awaitServed(double limitSeconds, Look broker) throws BenchmarkException, IOException {
    long end = System.nanoTime() + Math.round(limitSeconds * TimeUnit.SECONDS.toNanos(1));
    KafkaFuture<?> answers = admin.listOffsets(partitions).all();
    while (true) {
      try {
        answers.get(LOOK_MILLIS, TimeUnit.MILLISECONDS);
        return;
      } catch (ExecutionException e) {
        // The client has retried until its own time limit.
        if (!(e.getCause() instanceof RetriableException)) {
          throw new BenchmarkException("the topics' leaders: " + e.getCause());
        }
        answers = admin.listOffsets(partitions).all();
      } catch (TimeoutException notYet) {
        // It still asks.
      } catch (InterruptedException e) {
        throw failed("the topics' leaders", e);
      }
      broker.look();
      if (System.nanoTime() > end) {
        throw new BenchmarkException(
            "the topics: found partitions without a leader that answers after %.0f s"
                .formatted(limitSeconds));
      }
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

  private static <T> T get(String what, KafkaFuture<T> future) throws BenchmarkException {
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
