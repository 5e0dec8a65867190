package io.strata.kafka.bench.load;

import io.strata.kafka.bench.scenario.ConsumerSpec;
import io.strata.kafka.bench.scenario.PhaseSpec;
import io.strata.kafka.bench.scenario.ProducerSpec;
import io.strata.kafka.bench.scenario.Scenario;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The clients of one phase on one host. {@link #prepare} connects them, {@link #start} lets them go
 * at a time, and the listener hears of what they do.
 *
 * <p>Thread safety: {@link #stop} and {@link #producersEnded} may be called by any thread.
 */
public final class PhaseLoad implements AutoCloseable {
  private static final double NANOS = 1e9;
  private static final long SEED = 17;

  private final Scenario scenario;
  private final PhaseSpec phase;
  private final int host;
  private final Map<String, List<String>> topics;
  private final LoadClock clock;
  private final LoadListener listener;
  private final Map<String, Group> groups = new LinkedHashMap<>();
  private final List<Thread> threads = new ArrayList<>();
  private final CountDownLatch allEnded = new CountDownLatch(1);
  private volatile boolean closed;

  /**
   * Creates the load of one host.
   *
   * @param host its number among the scenario's hosts
   * @param topics the topics' names in the cluster, by their names in the scenario
   */
  public PhaseLoad(
      Scenario scenario,
      String phase,
      int host,
      Map<String, List<String>> topics,
      LoadClock clock,
      LoadListener listener) {
    this.scenario = scenario;
    this.phase = Objects.requireNonNull(scenario.phases().get(phase), phase);
    this.host = host;
    this.topics = topics;
    this.clock = clock;
    this.listener = listener;
  }

  private record Group(GroupMeter meter, Stops stops, List<LoadClient> clients, AtomicLong left) {

    static Group of(int clients) {
      return new Group(
          new GroupMeter(clients), new Stops(), new ArrayList<>(), new AtomicLong(clients));
    }
  }

  // ---------------------------------------------------------------------------------------------
  // before the start
  // ---------------------------------------------------------------------------------------------

  /** Connects all clients. */
  public void prepare() throws Exception {
    Map<Double, byte[]> pools = new HashMap<>();
    phase
        .producers()
        .forEach(
            (name, spec) ->
                addProducers(
                    name,
                    spec,
                    pools.computeIfAbsent(
                        spec.compressibility(), c -> Payload.pool(c, SEED + host))));
    phase.consumers().forEach(this::addConsumers);
    for (Group group : groups.values()) {
      for (LoadClient client : group.clients()) {
        client.prepare();
      }
    }
  }

  private void addProducers(String name, ProducerSpec spec, byte[] pool) {
    Group group = Group.of(spec.clients());
    groups.put(name, group);
    for (int i = 0; i < spec.clients(); i++) {
      Share share = new Share(host * spec.clients() + i, spec.clients() * scenario.hosts().size());
      group
          .clients()
          .add(
              new ProducerClient(
                  ProducerClient.connect(properties(spec.client(), name, share)),
                  spec,
                  topicOf(spec.topic(), share),
                  share,
                  clock,
                  group.stops(),
                  group.meter(),
                  pool));
    }
  }

  private void addConsumers(String name, ConsumerSpec spec) {
    Group group = Group.of(spec.clients());
    groups.put(name, group);
    Share part = new Share(host, scenario.hosts().size());
    ConsumerClient.Budget budget =
        new ConsumerClient.Budget(
            budget(part, spec.until().records()), budget(part, spec.until().bytes()));
    boolean own = isPerClient(spec.topic());
    for (int i = 0; i < spec.clients(); i++) {
      Share share = new Share(host * spec.clients() + i, spec.clients() * scenario.hosts().size());
      group
          .clients()
          .add(
              new ConsumerClient(
                  ConsumerClient.connect(properties(spec.client(), name, share)),
                  spec,
                  own ? topicsOf(spec.topic(), share) : names(spec.topic()),
                  share,
                  clock,
                  group.stops(),
                  group.meter(),
                  budget,
                  spec.share() && !own));
    }
  }

  private static AtomicLong budget(Share host, OptionalLong limit) {
    return new AtomicLong(limit.isPresent() ? host.of(limit.getAsLong()) : Long.MAX_VALUE);
  }

  private Map<String, Object> properties(Map<String, String> own, String group, Share share) {
    Map<String, Object> all = new HashMap<>(scenario.kafka());
    all.put("bootstrap.servers", scenario.bootstrap());
    all.put("client.id", "strata-bench-%s-%d".formatted(group, share.client()));
    all.putAll(own);
    return all;
  }

  private boolean isPerClient(String topic) {
    return Objects.requireNonNull(scenario.topics().get(topic), topic).perClient();
  }

  private List<String> names(String topic) {
    return Objects.requireNonNull(topics.get(topic), topic);
  }

  private String topicOf(String topic, Share share) {
    List<String> names = names(topic);
    return names.get(share.client() % names.size());
  }

  /** A consumer has its own topic, and those that no other consumer of the group has. */
  private List<String> topicsOf(String topic, Share share) {
    List<String> names = names(topic);
    List<String> own = new ArrayList<>();
    for (int i = share.client() % names.size(); i < names.size(); i += share.clients()) {
      own.add(names.get(i));
    }
    return own;
  }

  // ---------------------------------------------------------------------------------------------
  // from the start on
  // ---------------------------------------------------------------------------------------------

  /** Starts all clients at a time of the clock, and returns at once. */
  public void start(long micros) {
    long start = clock.nanoTime(micros);
    AtomicLong left = new AtomicLong(groups.size());
    groups.forEach(
        (name, group) -> {
          for (int i = 0; i < group.clients().size(); i++) {
            LoadClient client = group.clients().get(i);
            thread("bench-%s-%d".formatted(name, i), () -> work(name, group, client, start, left));
          }
          group.stops().startAt(start);
        });
    thread("bench-intervals", () -> reportIntervals(start));
  }

  private void thread(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    threads.add(thread);
    thread.start();
  }

  private void work(String name, Group group, LoadClient client, long start, AtomicLong left) {
    try {
      client.run();
    } catch (Exception | Error e) {
      if (!closed) {
        stopAll();
        listener.failed("%s: %s".formatted(name, e));
      }
    }
    if (group.left().decrementAndGet() == 0) {
      // Before a failure, which ends the phase: a group that has failed has a time, too.
      long end = group.meter().endNanos(System.nanoTime());
      listener.ended(name, Math.max(0, (end - start) / NANOS));
      group.meter().firstError().ifPresent(error -> listener.failed(name + ": " + error));
      if (left.decrementAndGet() == 0) {
        allEnded.countDown();
      }
    }
  }

  private void reportIntervals(long start) {
    long length = Math.round(scenario.intervalSeconds() * TimeUnit.SECONDS.toNanos(1));
    long from = start;
    try {
      for (int index = 0; ; index++) {
        long end = start + (index + 1) * length;
        boolean ended = allEnded.await(end - System.nanoTime(), TimeUnit.NANOSECONDS);
        Map<String, GroupInterval> work = new LinkedHashMap<>();
        groups.forEach((name, group) -> work.put(name, group.meter().take()));
        long now = System.nanoTime();
        listener.interval(index, (from - start) / NANOS, (now - start) / NANOS, work);
        from = now;
        if (ended) {
          listener.finished();
          return;
        }
      }
    } catch (InterruptedException expected) {
      // Closed: the agent no longer listens.
      Thread.currentThread().interrupt();
    }
  }

  /** Ends a group now. */
  public void stop(String group) {
    Objects.requireNonNull(groups.get(group), group).stops().stop();
  }

  private void stopAll() {
    groups.values().forEach(group -> group.stops().stop());
  }

  /** Lets consumers without a limit end at the end of the log. */
  public void producersEnded() {
    groups.values().forEach(group -> group.stops().producersEnded());
  }

  /** Ends whatever still runs, and disconnects. */
  @Override
  public void close() {
    closed = true;
    stopAll();
    for (Thread thread : threads) {
      try {
        if (thread.getName().equals("bench-intervals")) {
          thread.interrupt();
        }
        thread.join(TimeUnit.SECONDS.toMillis(30));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    for (Group group : groups.values()) {
      group.clients().forEach(LoadClient::close);
    }
  }
}
