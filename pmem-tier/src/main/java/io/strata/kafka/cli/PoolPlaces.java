package io.strata.kafka.cli;

import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.ConfigRefusedException;
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

  /** At least one file, absolute. */
  List<Path> resolve() throws IOException, UsageException, ConfigRefusedException {
    Optional<BrokerProperties> broker = config.load();
    if (broker.isPresent() != files.isEmpty()) {
      throw new UsageException(
          "FILE: found %s --config, expected one of them"
              .formatted(files.isEmpty() ? "neither a file nor" : "both files and"));
    }
    return broker.isPresent()
        ? broker.get().strataConfig().orElseThrow().pools()
        : files.stream().map(file -> file.toAbsolutePath().normalize()).toList();
  }
}
