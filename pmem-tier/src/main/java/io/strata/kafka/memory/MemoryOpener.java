package io.strata.kafka.memory;

import com.intel.pmem.llpl.MemoryPool;
import com.intel.pmem.llpl.MemoryPoolException;
import io.strata.kafka.memory.calls.ForeignPmem;
import io.strata.kafka.memory.calls.InodeLock;
import io.strata.kafka.memory.calls.Interrupts;
import io.strata.kafka.memory.calls.LibPmem;
import io.strata.kafka.memory.calls.LlplPmem;
import io.strata.kafka.memory.calls.MappedWindows;
import io.strata.kafka.memory.calls.PmemCalls;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.Set;
import jdk.nio.mapmode.ExtendedMapMode;

/**
 * Opens memories on existing files. Stateless.
 *
 * <p>Needs no native library for the types {@link MemoryType#MAPPED} and {@link MemoryType#FILE}.
 */
public final class MemoryOpener {
  private MemoryOpener() {}

  /**
   * Opens a file as a memory of its present size, and probes its durability. Takes no lock.
   *
   * @param file an existing file of at least one byte; see {@link PoolFiles#extend}
   * @throws java.nio.file.NoSuchFileException if there is no such file
   * @throws java.nio.file.AccessDeniedException if the file may not be read, or not written though
   *     {@code writable}
   * @throws IOException if the type cannot work here (see {@link #unavailable}), or the file is
   *     empty or cannot be mapped
   */
  public static PersistentMemory open(MemoryType type, Path file, boolean writable)
      throws IOException {
    return opened(type, file, writable, Optional.empty());
  }

  /**
   * As {@link #open(MemoryType, Path, boolean)}, for writing, under a lock that the caller has on
   * the file.
   *
   * @throws IOException if the lock was lost while the file was opened, too
   */
  public static PersistentMemory open(MemoryType type, Path file, InodeLock lock)
      throws IOException {
    PersistentMemory memory = opened(type, file, true, Optional.of(lock));
    try {
      lock.renew();
      return memory;
    } catch (IOException e) {
      memory.close();
      throw e;
    }
  }

  private static PersistentMemory opened(
      MemoryType type, Path file, boolean writable, Optional<InodeLock> lock) throws IOException {
    Optional<String> reason = unavailable(type);
    if (reason.isPresent()) {
      throw new IOException(
          "Cannot open " + file + " as " + type.configName() + " memory: " + reason.get());
    }
    return Interrupts.defer(
        () ->
            type == MemoryType.FILE
                ? openFile(file, writable, lock)
                : openMapped(type, file, writable));
  }

  /**
   * The type that fits what a file is on: {@link MemoryType#PMEM} on a DAX file system where
   * libpmem is there, {@link MemoryType#MAPPED} where it is not; {@link MemoryType#MAPPED} on a
   * memory-backed file system; {@link MemoryType#FILE} on any other. A file that is not there, or
   * cannot be looked at, gets {@link MemoryType#MAPPED}: opening it then says what is wrong.
   */
  public static MemoryType fitting(Path file) {
    try {
      if (!Files.isRegularFile(file) || FileProbe.isMemoryBacked(file)) {
        return MemoryType.MAPPED;
      }
      return fitting(FileProbe.isDax(file), unavailable(MemoryType.PMEM).isEmpty());
    } catch (IOException unreadable) {
      return MemoryType.MAPPED;
    }
  }

  /** The type that fits a file system that is not memory-backed. */
  static MemoryType fitting(boolean dax, boolean libpmem) {
    if (!dax) {
      return MemoryType.FILE;
    }
    return libpmem ? MemoryType.PMEM : MemoryType.MAPPED;
  }

  /** Returns why a type cannot work on this machine; empty when it can. */
  public static Optional<String> unavailable(MemoryType type) {
    return type == MemoryType.PMEM ? LibPmem.unavailable() : Optional.empty();
  }

  private static PersistentMemory openMapped(MemoryType type, Path file, boolean writable)
      throws IOException {
    try (FileChannel channel = FileChannel.open(file, options(writable))) {
      long size = sizeOf(file, channel);
      Durability durability = FileProbe.durability(type, file);
      MappedWindows windows = MappedWindows.map(channel, mapMode(durability, writable), size);
      WriteBack<MappedWindows> writeBack =
          WriteBack.ofRanges(file, (open, position, length) -> open.force(file, position, length));
      Optional<PmemCalls> calls =
          writable && type == MemoryType.PMEM
              ? Optional.of(calls(file, windows))
              : Optional.empty();
      Optional<ZeroedRanges> ranges = ranges(file, writable, durability);
      return type == MemoryType.PMEM
          ? new PmemMemory(file, size, durability, windows, writeBack, calls, ranges)
          : new MappedMemory(type, file, size, writable, durability, windows, writeBack, ranges);
    }
  }

  private static PersistentMemory openFile(Path file, boolean writable, Optional<InodeLock> lock)
      throws IOException {
    long size;
    try (FileChannel channel = FileChannel.open(file, options(writable))) {
      size = sizeOf(file, channel);
    }
    Durability durability = FileProbe.durability(MemoryType.FILE, file);
    ReopeningChannel channel = new ReopeningChannel(file, options(writable), lock);
    WriteBack<ReopeningChannel> writeBack =
        WriteBack.ofWholeFile(file, (opened, position, length) -> opened.force());
    return new FileMemory(
        file,
        size,
        writable,
        durability,
        channel,
        writable && durability.needsForce() ? forForces(file, size) : Optional.empty(),
        writeBack,
        ranges(file, writable, durability));
  }

  /** Maps a file; not every file system can. */
  private static Optional<MappedWindows> forForces(Path file, long size) {
    try (FileChannel channel = FileChannel.open(file, options(true))) {
      return Optional.of(MappedWindows.map(channel, MapMode.READ_WRITE, size));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private static PmemCalls calls(Path file, MappedWindows windows) throws IOException {
    PmemCalls calls = new LlplPmem(openPool(file));
    return ForeignPmem.available() ? new ForeignPmem(calls, windows.addresses()) : calls;
  }

  private static MemoryPool openPool(Path file) throws IOException {
    try {
      return MemoryPool.openPool(file.toAbsolutePath().toString());
    } catch (MemoryPoolException | IllegalArgumentException e) {
      throw new IOException("libpmem cannot map " + file + ": " + e.getMessage(), e);
    } catch (LinkageError e) {
      throw new IOException(
          "Cannot open " + file + " as pmem memory: LLPL's native library cannot be loaded", e);
    }
  }

  /** Only where {@link PersistentMemory#zeroRange} is meant to be used. */
  private static Optional<ZeroedRanges> ranges(Path file, boolean writable, Durability durability)
      throws IOException {
    return writable && durability.needsForce() ? ZeroedRanges.open(file) : Optional.empty();
  }

  private static MapMode mapMode(Durability durability, boolean writable) {
    if (!writable) {
      return MapMode.READ_ONLY;
    }
    return durability.durableOnPersist() ? ExtendedMapMode.READ_WRITE_SYNC : MapMode.READ_WRITE;
  }

  private static long sizeOf(Path file, FileChannel channel) throws IOException {
    long size = channel.size();
    if (size == 0) {
      throw new IOException(file + " is empty: a memory needs a file that is allocated");
    }
    return size;
  }

  private static Set<StandardOpenOption> options(boolean writable) {
    return writable
        ? Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE)
        : Set.of(StandardOpenOption.READ);
  }
}
