package io.strata.kafka.migration;

import java.time.InstantSource;
import java.util.concurrent.ThreadFactory;
import java.util.function.LongSupplier;

/**
 * The surroundings of the engine.
 *
 * <p>Immutable; as safe as what it holds.
 *
 * @param clock the time that segments are dated by
 * @param nanoTime a clock for intervals
 * @param threads makes the engine's threads
 */
public record EngineEnvironment(InstantSource clock, LongSupplier nanoTime, ThreadFactory threads) {

  /** The system's clocks, and daemon threads; the engine names them. */
  public static EngineEnvironment system() {
    return new EngineEnvironment(
        InstantSource.system(),
        System::nanoTime,
        task -> {
          Thread thread = new Thread(task);
          thread.setDaemon(true);
          return thread;
        });
  }
}
