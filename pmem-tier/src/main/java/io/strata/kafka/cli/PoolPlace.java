package io.strata.kafka.cli;

import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.ConfigRefusedException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Names one pool: its file, or the only one of a broker's configuration. */
final class PoolPlace {
  @Parameters(
      paramLabel = "FILE",
      arity = "0..1",
      description = "The pool file; that of strata.pools if it is left out.")
  private @Nullable Path file;

  @Mixin private final ConfigOption config = new ConfigOption();

  /** Returns the configuration; one must have been given. */
  BrokerProperties requireConfig() throws IOException, UsageException {
    return config.require();
  }

  /** Returns the file, absolute. */
  Path resolve() throws IOException, UsageException, ConfigRefusedException {
    if (file != null) {
      return file.toAbsolutePath().normalize();
    }
    Optional<BrokerProperties> broker = config.load();
    return only(broker.isPresent() ? broker.get().strataConfig().orElseThrow().pools() : List.of());
  }

  /** Returns the only one of a configuration's pools. */
  static Path only(List<Path> pools) throws UsageException {
    if (pools.size() != 1) {
      throw new UsageException(
          """
          FILE: found nothing, expected the pool's file, or a --config with exactly one file in \
          strata.pools (it has %s)\
          """
              .formatted(pools.size()));
    }
    return pools.get(0);
  }
}
