package io.strata.kafka.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.slf4j.helpers.NOPLogger;

/** A broker that must not start ends, whatever its log does. */
class StartRefusalTest {

  private final AtomicInteger halted = new AtomicInteger();

  @Test
  void endsTheJvm() {
    StartRefusal.end(
        new IOException("reason"), () -> NOPLogger.NOP_LOGGER, halted::incrementAndGet);

    assertThat(halted).hasValue(1);
  }

  /** The exception would go through Kafka's shutdown, which writes empty checkpoints. */
  @Test
  void endsTheJvmWhenNothingCanBeLogged() {
    assertThatThrownBy(
            () ->
                StartRefusal.end(
                    new IOException("reason"),
                    () -> {
                      throw new IllegalStateException("no space for the log");
                    },
                    halted::incrementAndGet))
        .hasMessage("no space for the log");

    assertThat(halted).hasValue(1);
  }
}
