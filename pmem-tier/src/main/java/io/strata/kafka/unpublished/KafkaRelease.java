package io.strata.kafka.unpublished;

import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;
import java.util.Properties;
import org.apache.kafka.common.metrics.MetricsReporter;

/** The release of Kafka whose classes this JVM has. Thread safety: stateless. */
public final class KafkaRelease {

  private static final String RESOURCE = "kafka/kafka-version.properties";

  private KafkaRelease() {}

  /** Returns the release, {@code 4.4.0} for example; empty if it cannot be found out. */
  public static Optional<String> version() {
    ClassLoader kafka = MetricsReporter.class.getClassLoader();
    try (InputStream in = kafka.getResourceAsStream(RESOURCE)) {
      if (in == null) {
        return Optional.empty();
      }
      Properties properties = new Properties();
      properties.load(in);
      return Optional.ofNullable(properties.getProperty("version")).map(String::strip);
    } catch (IOException | IllegalArgumentException e) {
      return Optional.empty(); // Only a warning hangs on it.
    }
  }
}
