package io.strata.kafka.runtime;

import io.strata.kafka.tier.MoveStage;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * For tests: ends the JVM, as {@code kill -9} does, when a move reaches a stage.
 *
 * <p>The system property {@code strata.test.halt} names the stage, and after a colon which time it
 * is to be: {@code EVICT_FREED:3}.
 *
 * <p>Thread safety: may be called by any thread.
 */
final class TestHalt implements MoveStage.Hook {

  static final String PROPERTY = "strata.test.halt";

  /** As a shell tells of a process that was killed. */
  private static final int KILLED = 137;

  private final MoveStage stage;
  private final AtomicInteger left;

  private TestHalt(MoveStage stage, int times) {
    this.stage = stage;
    this.left = new AtomicInteger(times);
  }

  /** What the property says; nothing happens without it. */
  static MoveStage.Hook ofThisJvm() {
    String value = System.getProperty(PROPERTY);
    if (value == null) {
      return MoveStage.Hook.NONE;
    }
    int colon = value.indexOf(':');
    String name = colon < 0 ? value : value.substring(0, colon);
    int times = colon < 0 ? 1 : Integer.parseInt(value.substring(colon + 1));
    return new TestHalt(MoveStage.valueOf(name), times);
  }

  @Override
  public void reached(MoveStage reached) {
    if (reached == stage && left.decrementAndGet() == 0) {
      Runtime.getRuntime().halt(KILLED);
    }
  }
}
