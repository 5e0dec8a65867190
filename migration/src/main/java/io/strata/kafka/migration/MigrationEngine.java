package io.strata.kafka.migration;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.api.MigrationListener;
import io.strata.kafka.api.MigrationPolicy;
import io.strata.kafka.migration.plan.BackOffs;
import io.strata.kafka.migration.plan.MigrationSettings;
import io.strata.kafka.migration.plan.Plan;
import io.strata.kafka.migration.plan.Plan.LastPlan;
import io.strata.kafka.migration.plan.Plan.PlannedMove;
import io.strata.kafka.migration.plan.Plan.TierPlan;
import io.strata.kafka.migration.plan.Planner;
import io.strata.kafka.migration.plan.PolicyRegistry;
import io.strata.kafka.migration.plan.TieredSegments;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;

/**
 * Moves segments between tiers, in the background: plans in rounds, and has some threads carry the
 * plan out within limits.
 *
 * <p>Thread safety: safe for use by any number of threads.
 */
public final class MigrationEngine implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** The settings with what is made of them. */
  private record Config(
      MigrationSettings settings, MigrationPolicy policy, Predicate<String> pinned) {

    static Config of(MigrationSettings settings, PolicyRegistry policies) {
      return new Config(
          settings,
          policies.create(
              settings.policy(), policies.own(settings.policy(), settings.policyParameters())),
          settings.pinned());
    }
  }

  private enum State {
    NEW,
    RUNNING,
    STOPPED
  }

  private final TieredSegments segments;
  private final PolicyRegistry policies;
  private final EngineEvents events;
  private final EngineEnvironment environment;
  private final int tiers;
  private final BackOffs backOffs;
  private final EngineMeters meters;
  private final MoveQueue queue;
  private final Mover mover;
  private final PlanningLoop loop;

  private volatile Config config;

  /** As the last round saw them. */
  private volatile List<TierPlan> tierPlans = List.of();

  /** The last plan by the present settings that was carried out; empty if there is none. */
  @GuardedBy("this")
  private Optional<LastPlan> lastPlan = Optional.empty();

  @GuardedBy("this")
  private State state = State.NEW;

  /** The movers by name; one that makes moves takes itself out when it ends. */
  @GuardedBy("this")
  private final Map<String, Thread> threads = new HashMap<>();

  /**
   * Makes an engine that does nothing yet.
   *
   * @param segments the tiers
   * @param settings the first ones; a threshold for each tier with pools
   * @param policies where the policy is looked up
   * @param listeners are notified of moves
   * @param events are notified of the engine's own state
   * @throws IllegalArgumentException if the settings cannot be used
   */
  public MigrationEngine(
      TieredSegments segments,
      MigrationSettings settings,
      PolicyRegistry policies,
      List<MigrationListener> listeners,
      EngineEvents events,
      EngineEnvironment environment) {
    this(segments, settings, policies, listeners, events, environment, Optional.empty());
  }

  /**
   * Makes an engine that goes on where another one has ended.
   *
   * @param earlier the other one's figures, of as many tiers: what it has counted counts on
   * @throws IllegalArgumentException if the settings cannot be used
   */
  public MigrationEngine(
      TieredSegments segments,
      MigrationSettings settings,
      PolicyRegistry policies,
      List<MigrationListener> listeners,
      EngineEvents events,
      EngineEnvironment environment,
      Optional<MigrationStats> earlier) {
    this.segments = segments;
    this.policies = policies;
    this.events = events;
    this.environment = environment;
    config = Config.of(settings, policies);
    tiers = settings.thresholds().size();
    backOffs = new BackOffs(environment.nanoTime(), RandomGenerator.getDefault());
    meters =
        earlier
            .map(MigrationStats::meters)
            .orElseGet(() -> new EngineMeters(tiers, environment.nanoTime()));
    queue = new MoveQueue(settings.threads());
    mover = new Mover(segments, listeners, events, backOffs, meters, environment.nanoTime());
    mover.setRates(settings);
    loop =
        new PlanningLoop(
            environment.nanoTime(),
            events,
            this::round,
            () -> settings().interval(),
            earlier.map(stats -> stats.cost().failed()).orElse(0L));
  }

  /**
   * Starts the threads.
   *
   * @throws IllegalStateException if it has been started or stopped
   */
  public synchronized void start() {
    if (state != State.NEW) {
      throw new IllegalStateException("the migration engine: " + state + ", expected " + State.NEW);
    }
    state = State.RUNNING;
    segments.onDemand(loop::wake);
    startWorkers();
    startThread("strata-migration-planner", loop);
  }

  private synchronized void startWorkers() {
    for (int worker = 0; worker < config.settings().threads(); worker++) {
      int number = worker;
      startThread(workerName(number), () -> work(number));
    }
  }

  private static String workerName(int number) {
    return "strata-migration-" + number;
  }

  /** Unless there is one of that name. */
  private synchronized void startThread(String name, Runnable task) {
    if (!threads.containsKey(name)) {
      Thread thread = environment.threads().newThread(task);
      thread.setName(name);
      thread.start();
      threads.put(name, thread);
    }
  }

  private void work(int number) {
    while (!endWorker(number)) {
      try {
        Optional<PlannedMove> taken = queue.take(number);
        if (taken.isPresent()) {
          Optional<PlannedMove> rest = Optional.empty();
          try {
            rest = mover.make(taken.get());
          } finally {
            queue.done(taken.get(), rest);
          }
        }
      } catch (InterruptedException e) {
        // The engine does not stop this way: if it stops, the loop ends anyway.
      } catch (RuntimeException | Error e) {
        // Reported as if the thread ended; but without it, nothing would be moved any more.
        reportUncaught(e);
      }
    }
  }

  /** Throws nothing, though there may be no memory. */
  private static void reportUncaught(Throwable e) {
    try {
      Thread worker = Thread.currentThread();
      worker.getUncaughtExceptionHandler().uncaughtException(worker, e);
    } catch (RuntimeException | Error unreported) {
      return;
    }
  }

  /** Returns whether the thread is one too many, or all are; then it is forgotten. */
  private synchronized boolean endWorker(int number) {
    boolean ends = state == State.STOPPED || number >= config.settings().threads();
    if (ends) {
      threads.remove(workerName(number));
    }
    return ends;
  }

  /** Plans once, if there may be something to plan. */
  private void round() {
    if (!segments.mayMove()) {
      return;
    }
    Config now = config;
    // Before the state: a move that ends in between is left out of this round, not planned twice.
    List<PlannedMove> inFlight = queue.beginPlan();
    long nanos = environment.nanoTime().getAsLong();
    if (inFlight.isEmpty()
        && lastPlan().filter(last -> !last.isOutdated(segments, backOffs, nanos)).isPresent()) {
      return;
    }
    TieredSegments.State seen = segments.state();
    if (backOffs.remembersSegments()) {
      Set<Long> ids = new HashSet<>();
      seen.segments().forEach(segment -> ids.add(segment.id()));
      inFlight.forEach(move -> ids.add(move.id()));
      backOffs.retain(ids::contains);
    }
    Plan plan =
        Planner.plan(
            new Planner.Input(
                seen,
                environment.clock().millis(),
                now.settings(),
                now.pinned(),
                now.policy(),
                tierPlans,
                inFlight,
                backOffs));
    segments.evictionOrder(plan.evictionOrder());
    tierPlans = plan.tiers();
    meters.refused().add(plan.refused().size());
    plan.refused().stream().findFirst().ifPresent(r -> events.refused(r.move(), r.reason()));
    carryOut(
        plan, now, new LastPlan(now.settings(), nanos, seen, plan.tiers(), plan.moves().size()));
  }

  private synchronized Optional<LastPlan> lastPlan() {
    return lastPlan;
  }

  /** A plan by settings that have been replaced meanwhile, even by equal ones, is made again. */
  @SuppressWarnings("ReferenceEquality")
  private synchronized void carryOut(Plan plan, Config by, LastPlan made) {
    if (by == config) {
      lastPlan = Optional.of(made);
      queue.offer(plan.moves(), plan.directories());
    }
  }

  /**
   * Checks settings without any effect.
   *
   * @throws IllegalArgumentException if they cannot be used, or have not one threshold for each
   *     tier; the message names the key, what was found and what is expected
   */
  public void validate(MigrationSettings settings) {
    Config unused = check(settings);
  }

  private Config check(MigrationSettings settings) {
    if (settings.thresholds().size() != tiers) {
      throw new IllegalArgumentException(
          "thresholds %s: expected %s, one for each tier; tiers cannot be changed on a live broker"
              .formatted(settings.thresholds(), tiers));
    }
    return Config.of(settings, policies);
  }

  /**
   * From the next round on, works by other settings. Moves under way go on, at the new rate; those
   * that wait are planned again.
   *
   * @throws IllegalArgumentException if they cannot be used: the old ones stay
   */
  public void reconfigure(MigrationSettings settings) {
    Config next = check(settings);
    synchronized (this) {
      config = next;
      lastPlan = Optional.empty();
      mover.setRates(settings);
      queue.reset(settings.threads());
      if (state == State.RUNNING) {
        startWorkers();
      }
    }
    loop.wake();
  }

  /** The settings it works by. */
  public MigrationSettings settings() {
    return config.settings();
  }

  /** Returns the counters of its work, and what waits. Costs little. */
  public MigrationStats stats() {
    return new MigrationStats(
        meters,
        tierPlans,
        queue.queued(),
        queue.running(),
        config.settings().threads(),
        backOffs.waiting(),
        backOffs.corrupt(),
        loop.latencies,
        loop.counts);
  }

  /**
   * Stops: no move begins any more, those under way are cancelled. The engine interrupts no thread,
   * since that would close the files under it.
   *
   * @param patience how long to wait for the threads
   * @return whether all have ended; those that have not end after their present piece of I/O
   */
  public boolean stop(Duration patience) {
    mover.stop();
    List<Thread> left;
    synchronized (this) {
      state = State.STOPPED;
      left = List.copyOf(threads.values());
    }
    queue.close();
    loop.stop();
    long deadline = System.nanoTime() + patience.toNanos();
    boolean ended = true;
    for (Thread thread : left) {
      ended &= hasEnded(thread, deadline);
    }
    return ended;
  }

  private static boolean hasEnded(Thread thread, long deadline) {
    if (thread.equals(Thread.currentThread())) {
      return true; // A listener stops the engine: its thread ends when it returns.
    }
    try {
      long millis = Math.max(1, (deadline - System.nanoTime()) / 1_000_000);
      thread.join(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return !thread.isAlive();
  }

  /** Stops and waits for ten seconds at most. */
  @Override
  public void close() {
    boolean unused = stop(PATIENCE);
  }
}
