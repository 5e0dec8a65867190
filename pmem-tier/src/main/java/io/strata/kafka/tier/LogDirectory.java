package io.strata.kafka.tier;

import io.strata.kafka.memory.Printable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;

/**
 * One of the broker's log directories, and what Strata keeps on it in extended attributes.
 *
 * <ul>
 *   <li>{@code user.strata.directory}: a UUID that names the directory in the pool's slots, so that
 *       a log directory may be mounted elsewhere.
 *   <li>{@code user.strata.moments}: when each pool was last used with this directory; the pool has
 *       the same, so that an older copy of either is noticed ({@link Moments}).
 *   <li>{@code user.strata.pools}: the UUIDs and paths of the pools in use, so that a tool that was
 *       given no configuration (kafka-dump-log) finds a segment's bytes.
 * </ul>
 *
 * @param id the directory's identity
 * @param path its real path: absolute, symbolic links resolved
 */
public record LogDirectory(UUID id, Path path) {

  private static final String ID_ATTRIBUTE = "strata.directory";
  private static final String POOLS_ATTRIBUTE = "strata.pools";
  private static final String MOMENTS_ATTRIBUTE = "strata.moments";

  private static final String RESTORE =
      "restore it from a backup, or remove it with setfattr -x when no segment of this directory is"
          + " in a pool";

  /**
   * Opens a log directory and gives it an identity if it has none yet.
   *
   * @throws NoAttributesException when the file system has no user extended attributes
   */
  static LogDirectory claim(Path directory) throws IOException {
    Path real = directory.toRealPath();
    Optional<LogDirectory> known = find(real);
    if (known.isPresent()) {
      // A process that was killed may have given it just now.
      Directories.force(real);
      return known.get();
    }
    UUID id = UUID.randomUUID();
    try {
      write(real, ID_ATTRIBUTE, id.toString());
      // Slots are about to name the directory by it.
      Directories.force(real);
    } catch (UnsupportedOperationException e) {
      throw new NoAttributesException(real, e);
    } catch (FileSystemException e) {
      if (String.valueOf(e.getReason()).contains("not supported")) {
        throw new NoAttributesException(real, e);
      }
      throw e;
    }
    return new LogDirectory(id, real);
  }

  /** A log directory's file system has no user extended attributes. */
  static final class NoAttributesException extends FileSystemException {
    private static final long serialVersionUID = 1L;

    NoAttributesException(Path directory, Exception cause) throws IOException {
      super(
          directory.toString(),
          null,
          """
          the log directory's file system (%s) takes no user extended attributes, which tie a \
          segment's file to the pool: %s; use ext4, xfs or btrfs (mounted without nouser_xattr), \
          or take this directory out of log.dirs\
          """
              .formatted(Files.getFileStore(directory).type(), cause.getMessage()));
      initCause(cause);
    }
  }

  /** The log directory at a real path; empty when Strata has never used it. */
  public static Optional<LogDirectory> find(Path real) throws IOException {
    Optional<String> id = read(real, ID_ATTRIBUTE);
    if (id.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(new LogDirectory(UUID.fromString(id.get()), real));
    } catch (IllegalArgumentException e) {
      throw malformed(real, ID_ATTRIBUTE, id.get(), "a UUID: " + RESTORE, e);
    }
  }

  private static FileSystemException malformed(
      Path directory, String attribute, String value, String expected, Exception cause) {
    FileSystemException failure =
        FailureText.at(
            directory,
            "the extended attribute user.%s holds '%s', expected %s"
                .formatted(attribute, Printable.of(value), expected));
    failure.initCause(cause);
    return failure;
  }

  /** Records where the pools are, replacing what was recorded. */
  void recordPools(Map<UUID, Path> pools) throws IOException {
    String value = lines(pools);
    if (!read(path, POOLS_ATTRIBUTE).equals(Optional.of(value))) {
      write(path, POOLS_ATTRIBUTE, value);
    }
  }

  /**
   * Returns where the pools were when a broker last ran on this directory.
   *
   * @throws FileSystemException if the attribute holds something else
   */
  public Map<UUID, Path> recordedPools() throws IOException {
    return values(
        POOLS_ATTRIBUTE, path.getFileSystem()::getPath, "lines of <pool uuid>=<path>: " + RESTORE);
  }

  /** Records the moments of the pools in use, durably, replacing what was recorded. */
  void recordMoments(Map<UUID, Long> moments) throws IOException {
    write(path, MOMENTS_ATTRIBUTE, lines(moments));
    Directories.force(path);
  }

  /**
   * Returns when each pool was last used with this directory, in milliseconds since the epoch.
   *
   * @throws FileSystemException if the attribute holds something else
   */
  Map<UUID, Long> recordedMoments() throws IOException {
    return values(
        MOMENTS_ATTRIBUTE, Long::valueOf, "lines of <pool uuid>=<milliseconds>: " + RESTORE);
  }

  /** Returns what {@link #lines} has written. */
  private <T> Map<UUID, T> values(String attribute, Function<String, T> parse, String expected)
      throws IOException {
    Map<UUID, T> values = new LinkedHashMap<>();
    for (String line : read(path, attribute).orElse("").lines().toList()) {
      int equals = line.indexOf('=');
      try {
        values.put(
            UUID.fromString(line.substring(0, Math.max(0, equals))),
            parse.apply(line.substring(equals + 1)));
      } catch (IllegalArgumentException e) {
        throw malformed(path, attribute, line, expected, e);
      }
    }
    return values;
  }

  private static String lines(Map<UUID, ?> values) {
    StringBuilder lines = new StringBuilder();
    values.forEach((id, value) -> lines.append(id).append('=').append(value).append('\n'));
    return lines.toString();
  }

  /** Removes what Strata keeps on the directory; for an uninstallation. */
  void release() throws IOException {
    // Without its identity it is another one, and the pools permit no moment to that.
    remove(path, MOMENTS_ATTRIBUTE);
    Directories.force(path);
    remove(path, POOLS_ATTRIBUTE);
    remove(path, ID_ATTRIBUTE);
  }

  private static UserDefinedFileAttributeView attributes(Path file) {
    UserDefinedFileAttributeView view =
        Files.getFileAttributeView(
            file, UserDefinedFileAttributeView.class, LinkOption.NOFOLLOW_LINKS);
    if (view == null) {
      throw new UnsupportedOperationException("no user extended attributes");
    }
    return view;
  }

  private static Optional<String> read(Path file, String name) throws IOException {
    UserDefinedFileAttributeView view = attributes(file);
    if (!view.list().contains(name)) {
      return Optional.empty();
    }
    ByteBuffer value = ByteBuffer.allocate(view.size(name));
    view.read(name, value);
    return Optional.of(StandardCharsets.UTF_8.decode(value.flip()).toString());
  }

  private static void write(Path file, String name, String value) throws IOException {
    attributes(file).write(name, StandardCharsets.UTF_8.encode(value));
  }

  private static void remove(Path file, String name) throws IOException {
    if (read(file, name).isPresent()) {
      attributes(file).delete(name);
    }
  }
}
