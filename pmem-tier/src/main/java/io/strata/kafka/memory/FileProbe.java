package io.strata.kafka.memory;

import io.strata.kafka.memory.calls.Interrupts;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessMode;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import jdk.nio.mapmode.ExtendedMapMode;

/** Finds out what the file system of a pool really does, and changes nothing. Stateless. */
public final class FileProbe {
  private static final Set<String> MEMORY_BACKED = Set.of("tmpfs", "ramfs");

  private static final Path MOUNTS = Path.of("/proc/self/mounts");

  private FileProbe() {}

  /**
   * Returns whether the file's bytes can be mapped without a page cache between them and the
   * medium, so that a flushed cache line is durable: a mapping with MAP_SYNC succeeds, which the
   * kernel grants on a DAX file system only.
   *
   * @param file an existing, readable file of at least one byte
   * @throws IOException if the file cannot be opened for reading or is empty
   */
  public static boolean isDax(Path file) throws IOException {
    return Interrupts.defer(() -> isDaxWithoutInterrupt(file));
  }

  private static boolean isDaxWithoutInterrupt(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      if (channel.size() == 0) {
        throw new IOException(file + " is empty: there is nothing to map");
      }
      try {
        return channel.map(ExtendedMapMode.READ_ONLY_SYNC, 0, 1).capacity() == 1;
      } catch (UnsupportedOperationException | LinkageError e) {
        // The JDK has no such mapping on this platform, or its module is not in this image.
        return false;
      } catch (IOException e) {
        if (!channel.isOpen()) {
          throw e;
        }
        // The kernel refuses MAP_SYNC. Whether the file can be mapped at all is not asked here.
        return false;
      }
    }
  }

  /** Returns whose a file or directory is, for messages: as {@code ls -l} shows it. */
  public static String ownership(Path file) {
    try {
      PosixFileAttributes attributes = Files.readAttributes(file, PosixFileAttributes.class);
      return "owner %s, group %s, mode %s"
          .formatted(
              attributes.owner().getName(),
              attributes.group().getName(),
              PosixFilePermissions.toString(attributes.permissions()));
    } catch (IOException | UnsupportedOperationException e) {
      return "its owner cannot be read: " + e;
    }
  }

  /**
   * Returns whether a file is mounted read-only, by the system's answer: of a directory that is
   * mounted again the JDK takes the options of another mount.
   */
  public static boolean isReadOnly(Path file) {
    try {
      file.getFileSystem().provider().checkAccess(file, AccessMode.WRITE);
      return false;
    } catch (FileSystemException e) {
      return String.valueOf(e.getReason()).contains("Read-only file system");
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Returns whether the file lives in the machine's main memory and is gone after a power failure,
   * whatever is forced.
   *
   * @param file an existing file or directory
   */
  public static boolean isMemoryBacked(Path file) throws IOException {
    return MEMORY_BACKED.contains(Files.getFileStore(file).type());
  }

  /** As {@link #isMemoryBacked}, also of a file that is still to be made; else false. */
  public static boolean wouldBeMemoryBacked(Path file) {
    boolean made = Files.exists(file, LinkOption.NOFOLLOW_LINKS);
    try {
      return isMemoryBacked(made ? file : directoryOf(file));
    } catch (IOException unreadable) {
      return false;
    }
  }

  /**
   * As {@link #durability}, for a file that is still to be made. Where there is no file that could
   * be mapped, the mount's options say whether its file system is DAX.
   */
  static Durability durabilityOfNew(MemoryType type, Path file) throws IOException {
    Path directory = directoryOf(file);
    if (isMemoryBacked(directory)) {
      return Durability.PROCESS;
    }
    return type != MemoryType.FILE && isMountedWithDax(file) ? Durability.POWER : Durability.FORCE;
  }

  /** Returns whether the file system that a file is to be made on is mounted with DAX. */
  private static boolean isMountedWithDax(Path file) throws IOException {
    Path directory = directoryOf(file).toRealPath();
    String options = "";
    Path nearest = directory.getRoot();
    for (String line : Files.readAllLines(MOUNTS)) {
      String[] fields = line.split(" ", -1);
      Path point = Path.of(fields.length > 3 ? fields[1].replace("\\040", " ") : "/");
      if (fields.length > 3 && directory.startsWith(point) && point.startsWith(nearest)) {
        nearest = point;
        options = fields[3];
      }
    }
    List<String> given = List.of(options.split(",", -1));
    return given.contains("dax") || given.contains("dax=always");
  }

  private static Path directoryOf(Path file) {
    return Optional.ofNullable(file.toAbsolutePath().getParent()).orElse(file);
  }

  static Durability durability(MemoryType type, Path file) throws IOException {
    if (isMemoryBacked(file)) {
      return Durability.PROCESS;
    }
    return type != MemoryType.FILE && isDax(file) ? Durability.POWER : Durability.FORCE;
  }
}
