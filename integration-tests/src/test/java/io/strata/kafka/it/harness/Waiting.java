package io.strata.kafka.it.harness;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** How long a test waits for what a broker does by itself: the machine may do other work. */
public final class Waiting {

  public static final Duration LIMIT = Duration.ofMinutes(5);

  private Waiting() {}

  /** Waits; the test fails if the condition does not come true in time. */
  public static ConditionFactory await() {
    return Awaitility.await().atMost(LIMIT);
  }
}
