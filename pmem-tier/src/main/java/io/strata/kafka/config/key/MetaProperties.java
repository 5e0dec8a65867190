package io.strata.kafka.config.key;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Properties;
import java.util.UUID;

/**
 * The content of a log directory's {@code meta.properties}, which Kafka writes when it formats the
 * directory.
 */
public record MetaProperties(
    OptionalInt nodeId, Optional<String> clusterId, Optional<UUID> directoryId) {

  /** The file's name in a log directory. */
  public static final String FILE_NAME = "meta.properties";

  private static final MetaProperties NOTHING =
      new MetaProperties(OptionalInt.empty(), Optional.empty(), Optional.empty());

  /**
   * Reads the file in {@code logDirectory}.
   *
   * @return nothing known if there is no such file
   * @throws IOException if the file is there and cannot be read, or says what Kafka would not write
   */
  public static MetaProperties read(Path logDirectory) throws IOException {
    Path file = logDirectory.resolve(FILE_NAME);
    Properties properties = new Properties();
    try (InputStream in = Files.newInputStream(file)) {
      properties.load(in);
    } catch (NoSuchFileException e) {
      return NOTHING;
    } catch (IllegalArgumentException e) {
      throw new IOException(file + ": " + e.getMessage() + "; restore the file", e);
    }
    Optional<String> node = value(properties, "node.id").or(() -> value(properties, "broker.id"));
    try {
      return new MetaProperties(
          node.isPresent() ? OptionalInt.of(Integer.parseInt(node.get())) : OptionalInt.empty(),
          value(properties, "cluster.id"),
          value(properties, "directory.id").map(MetaProperties::toUuid));
    } catch (IllegalArgumentException e) {
      throw new IOException(
          """
          %s: found node.id=%s, directory.id=%s, expected a number and 16 bytes in URL-safe \
          Base64; restore the file\
          """
              .formatted(file, node.orElse(""), value(properties, "directory.id").orElse("")),
          e);
    }
  }

  private static Optional<String> value(Properties properties, String key) {
    return Optional.ofNullable(properties.getProperty(key))
        .map(String::strip)
        .filter(value -> !value.isEmpty());
  }

  /** Kafka writes an id as URL-safe Base64 of its 16 bytes, most significant first. */
  private static UUID toUuid(String text) {
    ByteBuffer bytes = ByteBuffer.wrap(Base64.getUrlDecoder().decode(text));
    if (bytes.remaining() != 16) {
      throw new IllegalArgumentException(text + " is not 16 bytes");
    }
    return new UUID(bytes.getLong(), bytes.getLong());
  }
}
