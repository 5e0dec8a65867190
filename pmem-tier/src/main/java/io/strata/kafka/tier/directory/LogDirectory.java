package io.strata.kafka.tier.directory;

import io.strata.kafka.memory.calls.Printable;
import io.strata.kafka.migration.plan.TopicPlacement;
import io.strata.kafka.tier.spec.FailureText;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

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

  /** A value that is there for a moment only, to see whether there is room. */
  private static final String ROOM_ATTRIBUTE = "strata.room";

  /** So many bytes of attributes every file system takes. */
  private static final int ALWAYS_FIT = 512;

  /** A file system may need so many bytes besides the values themselves. */
  private static final int ROOM_ASIDE = 128;

  /** A device with so much free space has not refused an attribute for being full. */
  private static final long FREE_BYTES = 1 << 20;

  /** The reasons that file systems give when a value is too long for them. */
  private static final List<String> TOO_LONG =
      List.of("No space left", "Argument list too long", "Numerical result out of range");

  /** A moment as long as all are until the year 2286. */
  private static final long SOME_MOMENT = 1_700_000_000_000L;

  private static final String RESTORE =
      "restore it from a backup, or remove it with setfattr -x when no segment of this directory is"
          + " in a pool";

  /**
   * Opens a log directory and gives it an identity if it has none yet.
   *
   * @throws AttributesException when the file system has no user extended attributes, or the
   *     directory has lost them
   */
  public static LogDirectory claim(Path directory) throws IOException {
    Path real = directory.toRealPath();
    Optional<LogDirectory> known = find(real);
    if (known.isPresent()) {
      // A process that was killed may have given it just now.
      Directories.force(real);
      return known.get();
    }
    refuseBare(real);
    return create(real);
  }

  /**
   * Refuses a log directory that was used with pools and has no identity: a copy without
   * attributes. No tag says which of its log files lack records then, and a log file that ends
   * between two batches does not either.
   */
  public static void refuseBare(Path real) throws IOException {
    if (!isMarked(real)) {
      return;
    }
    for (Path partition : NewestLogFiles.partitions(real)) {
      boolean neverHot =
          SegmentNames.inPartition(partition)
              .filter(name -> TopicPlacement.NEVER_HOT.contains(name.id().topic()))
              .isPresent();
      for (Path file : neverHot ? List.<Path>of() : NewestLogFiles.all(partition)) {
        if (Files.size(file) > 0) {
          throw AttributesException.lost(real, file);
        }
      }
    }
  }

  private static boolean isMarked(Path real) {
    try {
      return Marker.isMarked(real);
    } catch (IOException e) {
      return false; // Whatever needs the file says what is wrong with it.
    }
  }

  private static LogDirectory create(Path real) throws IOException {
    UUID id = UUID.randomUUID();
    try {
      write(real, ID_ATTRIBUTE, id.toString());
      // Slots are about to name the directory by it.
      Directories.force(real);
    } catch (FileSystemException e) {
      throw AttributesException.noneIfUnsupported(real, e);
    }
    return new LogDirectory(id, real);
  }

  /**
   * Refuses a directory on a file system that does not know a file by its inode: a segment's file
   * could not be told from a copy of it.
   */
  static void requireInodes(Path directory) throws IOException {
    if (Files.readAttributes(directory, BasicFileAttributes.class).fileKey() == null) {
      throw AttributesException.unfit(
          directory, "gives files no numbers (inodes), by which a segment's file is known", null);
    }
  }

  /** A log directory cannot have, or has lost, the user extended attributes that are needed. */
  static final class AttributesException extends FileSystemException {
    private static final long serialVersionUID = 1L;

    private AttributesException(Path directory, String reason, @Nullable Exception cause) {
      super(directory.toString(), null, reason);
      initCause(cause);
    }

    /** A failure itself, unless it is of a file system that has no attributes. */
    static FileSystemException noneIfUnsupported(Path directory, FileSystemException failure)
        throws IOException {
      return String.valueOf(failure.getReason()).contains("not supported")
          ? none(directory, failure)
          : failure;
    }

    static AttributesException none(Path directory, Exception cause) throws IOException {
      return unfit(
          directory,
          "takes no user extended attributes, which tie a segment's file to the pool: "
              + cause.getMessage(),
          cause);
    }

    static AttributesException unfit(Path directory, String what, @Nullable Exception cause)
        throws IOException {
      return new AttributesException(
          directory,
          """
          the log directory's file system (%s) %s; use ext4, xfs or btrfs (mounted without \
          nouser_xattr), or take this directory out of log.dirs\
          """
              .formatted(Files.getFileStore(directory).type(), what),
          cause);
    }

    static AttributesException lost(Path directory, Path file) {
      return new AttributesException(
          directory,
          """
          the log directory was used with pools, has records (%s) and no extended attributes: it \
          is a copy that was made without them, whose log files may lack their newest records, and \
          nothing says which do. Copy it again, with 'cp -a', 'rsync -aX' or 'tar --xattrs', and \
          the pools; if the original is lost, delete the partitions, and Kafka replicates them; to \
          go on with what the log files have, run 'setfattr -n user.%s -v $(cat \
          /proc/sys/kernel/random/uuid) %s'\
          """
              .formatted(file, ID_ATTRIBUTE, directory),
          null);
    }

    static AttributesException tooMany(Path directory, int pools, int fit, Exception cause)
        throws IOException {
      return new AttributesException(
          directory,
          """
          found %d pools, and room for the names and moments of %d in the log directory's extended \
          attributes (%s: %s); configure fewer pools, larger ones, or pools with shorter paths, or \
          use a file system with more room for attributes (ext4 has a block for all of a file's, \
          xfs 64 KiB for each)\
          """
              .formatted(pools, fit, Files.getFileStore(directory).type(), cause.getMessage()),
          cause);
    }
  }

  /** The log directory at a real path; empty when Strata has never used it. */
  public static Optional<LogDirectory> find(Path real) throws IOException {
    Optional<String> id;
    try {
      id = read(real, ID_ATTRIBUTE);
    } catch (UnsupportedOperationException e) {
      throw AttributesException.none(real, e);
    } catch (FileSystemException e) {
      throw AttributesException.noneIfUnsupported(real, e);
    }
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

  /**
   * Makes sure that {@link #recordPools} and {@link #recordMoments} will find room.
   *
   * @throws AttributesException if the file system cannot have so many
   */
  void requireRoom(Map<UUID, Path> pools) throws IOException {
    Optional<IOException> refused = refusal(pools);
    if (refused.isEmpty()) {
      return;
    }
    Map<UUID, Path> fewer = new LinkedHashMap<>(pools);
    do {
      fewer.remove(List.copyOf(fewer.keySet()).get(fewer.size() - 1));
    } while (refusal(fewer).isPresent());
    throw AttributesException.tooMany(path, pools.size(), fewer.size(), refused.get());
  }

  /** Tries it with one value that is as long as what would be new: nothing says how long it may. */
  private Optional<IOException> refusal(Map<UUID, Path> pools) throws IOException {
    Map<UUID, Long> moments = new LinkedHashMap<>();
    pools.keySet().forEach(id -> moments.put(id, SOME_MOMENT));
    int needed = length(lines(pools)) + length(lines(moments));
    int there =
        length(read(path, POOLS_ATTRIBUTE).orElse(""))
            + length(read(path, MOMENTS_ATTRIBUTE).orElse(""));
    if (needed <= Math.max(there, ALWAYS_FIT)) {
      return Optional.empty();
    }
    try {
      write(path, ROOM_ATTRIBUTE, "0".repeat(needed - there + ROOM_ASIDE));
      return Optional.empty();
    } catch (FileSystemException e) {
      boolean tooLong =
          TOO_LONG.stream().anyMatch(reason -> String.valueOf(e.getReason()).contains(reason));
      if (!tooLong || Files.getFileStore(path).getUsableSpace() < FREE_BYTES) {
        throw e;
      }
      return Optional.of(e);
    } finally {
      remove(path, ROOM_ATTRIBUTE);
    }
  }

  private static int length(String value) {
    return value.getBytes(StandardCharsets.UTF_8).length;
  }

  /** Records where the pools are, replacing what was recorded. */
  public void recordPools(Map<UUID, Path> pools) throws IOException {
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

  /** Returns what tells the directory from another one that is mounted in its place. */
  String inode() throws IOException {
    return String.valueOf(Files.readAttributes(path, BasicFileAttributes.class).fileKey());
  }

  /** Records the moments of the pools in use, durably, replacing what was recorded. */
  public void recordMoments(Map<UUID, Long> moments) throws IOException {
    write(path, MOMENTS_ATTRIBUTE, lines(moments));
    Directories.force(path);
  }

  /**
   * Returns when each pool was last used with this directory, in milliseconds since the epoch.
   *
   * @throws FileSystemException if the attribute holds something else
   */
  public Map<UUID, Long> recordedMoments() throws IOException {
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

  /** Removes what Strata keeps on the directory, but for its identity. */
  public void release() throws IOException {
    remove(path, MOMENTS_ATTRIBUTE);
    remove(path, POOLS_ATTRIBUTE);
    remove(path, ROOM_ATTRIBUTE);
    Directories.force(path);
  }

  /** Removes the identity, which has been released: a later start gives it another one. */
  public void forgetIdentity() throws IOException {
    remove(path, ID_ATTRIBUTE);
  }

  /** Gives it another identity, durably: it has been released. */
  public void renew() throws IOException {
    write(path, ID_ATTRIBUTE, UUID.randomUUID().toString());
    Directories.force(path);
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
