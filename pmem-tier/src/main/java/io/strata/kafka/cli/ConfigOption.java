package io.strata.kafka.cli;

import io.strata.kafka.config.BrokerProperties;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The broker's configuration, as {@code kafka-server-start.sh} takes it. */
final class ConfigOption {
  @Option(names = "--config", paramLabel = "FILE", description = "The broker's server.properties.")
  private @Nullable Path file;

  @Option(
      names = "--override",
      paramLabel = "KEY=VALUE",
      description = "A property in place of the file's; may be given several times.")
  private List<String> overrides = new ArrayList<>();

  /** The properties, if a file was given. */
  Optional<BrokerProperties> load() throws IOException, UsageException {
    if (file == null) {
      if (!overrides.isEmpty()) {
        throw new UsageException("--override: found without --config, expected both");
      }
      return Optional.empty();
    }
    Path directory = file.toAbsolutePath().getParent();
    if (directory != null && Files.isDirectory(directory) && !Files.isExecutable(directory)) {
      throw new AccessDeniedException(directory.toString());
    }
    if (!Files.isRegularFile(file)) {
      throw new UsageException(
          "--config: found no file " + file + ", expected the broker's server.properties");
    }
    return Optional.of(BrokerProperties.load(file, overrides));
  }

  /** The properties; a file must have been given. */
  BrokerProperties require() throws IOException, UsageException {
    return load()
        .orElseThrow(
            () -> new UsageException("--config: found nothing, expected the server.properties"));
  }
}
