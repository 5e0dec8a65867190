package io.strata.kafka.config.key;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Properties;

/** The file that Kafka writes into a log directory when it formats it. */
public final class MetaProperties {

  /** The file's name in a log directory. */
  public static final String FILE_NAME = "meta.properties";

  private MetaProperties() {}

  /** Reads the cluster that a log directory belongs to; empty if there is none, or no file. */
  public static Optional<String> clusterId(Path logDirectory) throws IOException {
    Path file = logDirectory.resolve(FILE_NAME);
    Properties properties = new Properties();
    try (InputStream in = Files.newInputStream(file)) {
      properties.load(in);
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IllegalArgumentException e) {
      throw new IOException(file + ": " + e.getMessage() + "; restore the file", e);
    }
    return Optional.ofNullable(properties.getProperty("cluster.id"))
        .map(String::strip)
        .filter(id -> !id.isEmpty());
  }
}
