package io.strata.kafka.migration;

import static java.util.Objects.requireNonNull;

import io.strata.kafka.api.MigrationListener;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Moves segments between tiers, in the background.
 *
 * <p>Thread safety: safe for use by any number of threads.
 */
public final class MigrationEngine implements AutoCloseable {

  private volatile MigrationSettings settings;

  /**
   * Makes an engine that does nothing yet.
   *
   * @param segments the tiers
   * @param settings the first ones; a threshold for each tier but home
   * @param policies where the policy is looked up
   * @param listeners are told of moves
   * @param events are told of the engine
   * @throws IllegalArgumentException as {@link #validate}
   */
  public MigrationEngine(
      TieredSegments segments,
      MigrationSettings settings,
      PolicyRegistry policies,
      List<MigrationListener> listeners,
      EngineEvents events,
      EngineEnvironment environment) {
    requireNonNull(segments);
    requireNonNull(policies);
    requireNonNull(listeners);
    requireNonNull(events);
    requireNonNull(environment);
    validate(settings, policies);
    this.settings = settings;
  }

  /**
   * Starts the threads.
   *
   * @throws IllegalStateException if it has been started or stopped
   */
  public void start() {}

  /**
   * Checks settings without any effect.
   *
   * @throws IllegalArgumentException if they cannot be used; the message names the key, what was
   *     found and what is expected
   */
  public static void validate(MigrationSettings settings, PolicyRegistry policies) {
    policies.create(settings.policy(), settings.policyParameters());
  }

  /**
   * As {@link #validate(MigrationSettings, PolicyRegistry)}, and that there is a threshold for each
   * tier.
   */
  public void validate(MigrationSettings settings) {
    requireNonNull(settings);
  }

  /**
   * From the next round on, works by other settings. Moves under way go on.
   *
   * @throws IllegalArgumentException if they cannot be used: the old ones stay
   */
  public void reconfigure(MigrationSettings settings) {
    validate(settings);
    this.settings = settings;
  }

  /** The settings it works by. */
  public MigrationSettings settings() {
    return settings;
  }

  /** What it has done and is doing. Costs little. */
  public MigrationStats stats() {
    return new MigrationStats(
        List.of(),
        0,
        0,
        settings.threads(),
        0,
        0,
        MigrationStats.Latency.NONE,
        MigrationStats.Latency.NONE,
        Map.of(),
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0);
  }

  /**
   * Stops: no move begins any more, those under way are cancelled.
   *
   * @param patience how long to wait for the threads
   * @return whether all have ended; those that have not end by themselves after their present piece
   *     of I/O
   */
  public boolean stop(Duration patience) {
    return true;
  }

  /** Stops and waits for ten seconds at most. */
  @Override
  public void close() {
    boolean unused = stop(Duration.ofSeconds(10));
  }
}
