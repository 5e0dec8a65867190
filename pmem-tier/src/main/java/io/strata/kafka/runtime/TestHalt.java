package io.strata.kafka.runtime;

import io.strata.kafka.migration.remote.store.StoreStage;
import io.strata.kafka.tier.MoveStage;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * For tests: ends the JVM, as {@code kill -9} does, when a move, or work on the remote store,
 * reaches a stage.
 *
 * <p>The system property {@code strata.test.halt} names the stage ({@link MoveStage}, {@link
 * StoreStage}), and after a colon which time it is to be: {@code EVICT_FREED:3}.
 *
 * <p>Thread safety: may be called by any thread.
 */
final class TestHalt {

  static final String PROPERTY = "strata.test.halt";

  /** As a shell tells of a process that was killed. */
  private static final int KILLED = 137;

  private final String stage;
  private final AtomicInteger left;

  private TestHalt(String stage, int times) {
    this.stage = stage;
    this.left = new AtomicInteger(times);
  }

  /** What the property says; empty without it. */
  private static Optional<TestHalt> asked() {
    String value = System.getProperty(PROPERTY);
    if (value == null) {
      return Optional.empty();
    }
    int colon = value.indexOf(':');
    String name = colon < 0 ? value : value.substring(0, colon);
    int times = colon < 0 ? 1 : Integer.parseInt(value.substring(colon + 1));
    return Optional.of(new TestHalt(name, times));
  }

  /** What the property says of moves; nothing happens without it. */
  static MoveStage.Hook ofThisJvm() {
    Optional<TestHalt> halt = asked();
    return halt.isEmpty() ? MoveStage.Hook.NONE : stage -> halt.get().reached(stage.name());
  }

  /** What the property says of the remote store; nothing happens without it. */
  static StoreStage.Hook ofRemoteStore() {
    Optional<TestHalt> halt = asked();
    return halt.isEmpty() ? StoreStage.Hook.NONE : stage -> halt.get().reached(stage.name());
  }

  private void reached(String reached) {
    if (reached.equals(stage) && left.decrementAndGet() == 0) {
      Runtime.getRuntime().halt(KILLED);
    }
  }
}
