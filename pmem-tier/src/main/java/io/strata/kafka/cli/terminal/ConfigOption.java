package io.strata.kafka.cli.terminal;

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
public final class ConfigOption {
  @Option(names = "--config", paramLabel = "FILE", description = "The broker's server.properties.")
  private @Nullable Path file;

  @Option(
      names = "--override",
      paramLabel = "KEY=VALUE",
      description = "A property in place of the file's; may be given several times.")
  private List<String> overrides = new ArrayList<>();

  @Option(
      names = "--working-directory",
      paramLabel = "DIRECTORY",
      description =
          """
          The broker's working directory, where log.dirs has relative paths: a command that \
          changes something insists on it then.\
          """)
  private @Nullable Path workingDirectory;

  /**
   * As {@link #load}, for a command that changes something: it must not find other log directories
   * than the broker does.
   *
   * @throws CommandException if the place of a log directory depends on a working directory that is
   *     not known
   */
  public Optional<BrokerProperties> loadForChange() throws IOException, CommandException {
    Optional<BrokerProperties> broker = load();
    List<String> relative = broker.map(BrokerProperties::relativeLogDirs).orElse(List.of());
    if (!relative.isEmpty() && workingDirectory == null) {
      throw CommandException.refused(
          """
          %s: found the relative log directories %s, expected absolute ones; give the broker's \
          working directory by --working-directory, or write absolute paths in log.dirs\
          """
              .formatted(broker.orElseThrow().source(), relative));
    }
    return broker;
  }

  /** As {@link #loadForChange}; a file must have been given. */
  public BrokerProperties requireForChange() throws IOException, CommandException {
    return loadForChange().orElseThrow(ConfigOption::missing);
  }

  /** The properties, if a file was given. */
  public Optional<BrokerProperties> load() throws IOException, CommandException {
    if (file == null) {
      if (!overrides.isEmpty()) {
        throw CommandException.usage("--override: found without --config, expected both");
      }
      return Optional.empty();
    }
    Path directory = file.toAbsolutePath().getParent();
    if (directory != null && Files.isDirectory(directory) && !Files.isExecutable(directory)) {
      throw new AccessDeniedException(directory.toString());
    }
    if (!Files.isRegularFile(file)) {
      throw CommandException.usage(
          "--config: found no file " + file + ", expected the broker's server.properties");
    }
    return Optional.of(
        BrokerProperties.load(
            file, overrides, workingDirectory == null ? Path.of("") : workingDirectory));
  }

  public BrokerProperties require() throws IOException, CommandException {
    return load().orElseThrow(ConfigOption::missing);
  }

  private static CommandException missing() {
    return CommandException.usage("--config: found nothing, expected the server.properties");
  }
}
