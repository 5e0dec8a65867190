package io.strata.kafka.cli;

import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.ConfigRefusedException;
import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.pool.PoolException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Names pools: files, or those of a broker's configuration. */
final class PoolPlaces {
  @Parameters(
      paramLabel = "FILE",
      arity = "0..*",
      description = "Pool files; those of strata.pools if --config is given instead.")
  private List<Path> files = new ArrayList<>();

  @Mixin private final ConfigOption config = new ConfigOption();

  private boolean createdByTheBroker;

  /** At least one file, absolute. */
  List<Path> resolve() throws IOException, UsageException, ConfigRefusedException {
    Optional<BrokerProperties> broker = config.load();
    if (broker.isPresent() != files.isEmpty()) {
      throw new UsageException(
          "FILE: found %s --config, expected one of them"
              .formatted(files.isEmpty() ? "neither a file nor" : "both files and"));
    }
    if (broker.isEmpty()) {
      return files.stream().map(file -> file.toAbsolutePath().normalize()).toList();
    }
    StrataConfig read = broker.get().strataConfig().orElseThrow();
    createdByTheBroker = read.poolCreate().isPresent();
    return read.pools();
  }

  /** A failure of one of the files, with what to do that fits the configuration. */
  Exception explained(PoolException failure, Path file) {
    return createdByTheBroker && failure.kind() == PoolException.Kind.MISSING
        ? new RefusedException(
            """
            pool %s: found no such file, expected a pool: mount its file system, correct the path, \
            or start the broker, which creates it as strata.pool.create says\
            """
                .formatted(file))
        : failure;
  }
}
