package io.strata.kafka.broker;

import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.CommandLineArguments;
import io.strata.kafka.config.StrataKeys;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Compares what Kafka has read with what Strata has: whose pools and log directories these are, and
 * every {@code strata.*} key of either. A key that Kafka lacks would be lost with the first change
 * on the live broker, which starts from what Kafka has. Stateless.
 */
public final class SameConfiguration {

  private SameConfiguration() {}

  /** Describes the first difference; empty if there is none. */
  public static Optional<String> difference(BrokerProperties kafka, BrokerProperties own) {
    TreeSet<String> keys = new TreeSet<>(kafka.asMap().keySet());
    keys.addAll(own.asMap().keySet());
    return keys.stream()
        .filter(key -> key.startsWith(StrataKeys.PREFIX))
        .flatMap(key -> describe(key, kafka.get(key), own.get(key), own).stream())
        .findFirst()
        .or(() -> describe("node.id", kafka.nodeId(), own.nodeId(), own))
        .or(() -> describe("log.dirs", kafka.logDirs(), own.logDirs(), own))
        .or(() -> describe("metadata.log.dir", kafka.metadataLogDir(), own.metadataLogDir(), own));
  }

  private static Optional<String> describe(
      String key, Object given, Object read, BrokerProperties own) {
    return given.equals(read)
        ? Optional.empty()
        : Optional.of(
            "%s: the broker has %s, Strata read %s from %s: give both the same file (-D%s=)"
                .formatted(
                    key,
                    text(given),
                    text(read),
                    own.source(),
                    CommandLineArguments.CONFIG_PROPERTY));
  }

  private static String text(Object value) {
    if (value instanceof Optional<?> optional) {
      return optional.map(SameConfiguration::text).orElse("nothing");
    }
    return "'" + value + "'";
  }
}
