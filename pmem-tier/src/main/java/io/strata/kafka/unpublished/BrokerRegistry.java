package io.strata.kafka.unpublished;

import com.yammer.metrics.core.MetricsRegistry;
import org.apache.kafka.server.metrics.KafkaYammerMetrics;

/** The registry of the broker's own metrics. Thread safety: stateless. */
public final class BrokerRegistry {

  private BrokerRegistry() {}

  /**
   * Returns the registry of this JVM's broker.
   *
   * @throws LinkageError if this JVM has none
   */
  public static MetricsRegistry get() {
    return KafkaYammerMetrics.defaultRegistry();
  }
}
