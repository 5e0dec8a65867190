package io.strata.kafka.migration.remote.cold;

import static java.util.Objects.requireNonNull;

import java.util.Map;
import java.util.Optional;

/**
 * Which other {@code RemoteStorageManager} has the lowest level.
 *
 * @param className its class
 * @param classPath where its classes are, as for {@code remote.log.storage.manager.class.path};
 *     empty for the broker's class path
 * @param configs what it is configured with: {@code rsm.config.cold.*} without that prefix, {@code
 *     class.name} and {@code class.path} excepted, and {@code broker.id}
 */
public record ColdSettings(
    String className, Optional<String> classPath, Map<String, Object> configs) {
  /** Copies the map. */
  public ColdSettings {
    requireNonNull(className);
    requireNonNull(classPath);
    configs = Map.copyOf(configs);
  }
}
