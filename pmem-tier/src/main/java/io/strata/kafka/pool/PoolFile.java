package io.strata.kafka.pool;

import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.memory.FileOwner;
import io.strata.kafka.memory.MemoryOpener;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.OverlayMemory;
import io.strata.kafka.memory.PersistentMemory;
import io.strata.kafka.memory.PoolFiles;
import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.memory.calls.InodeLock;
import io.strata.kafka.memory.calls.Interrupts;
import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.migration.NoSpaceException;
import io.strata.kafka.pool.words.CheckFinding;
import io.strata.kafka.pool.words.PoolException;
import io.strata.kafka.pool.words.PoolException.Kind;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.pool.words.Session;
import io.strata.kafka.pool.words.Superblock;
import io.strata.kafka.pool.words.Superblocks;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Checks pool files before the first byte is used, and works on them offline. Stateless. */
final class PoolFile {
  private PoolFile() {}

  static void create(PoolSpec spec, ProgressListener progress) throws IOException {
    spec.validate();
    Path file = spec.path();
    requireType(file, spec.type());
    Path directory = requireDirectory(file);
    PoolAccess.requireWritableDirectory(file, directory);
    Path unfinished = file.resolveSibling(file.getFileName() + ".creating");
    try (InodeLock lock = PoolLock.ofNew(file, unfinished)) {
      try {
        createLocked(spec, progress, unfinished, lock);
      } catch (IOException | RuntimeException e) {
        Files.deleteIfExists(unfinished);
        throw e;
      }
      forceDirectory(directory);
    }
  }

  private static void createLocked(
      PoolSpec spec, ProgressListener progress, Path unfinished, InodeLock lock)
      throws IOException {
    // Under the lock: another creation may have been under way.
    if (FileStatus.of(spec.path()).isPresent()) {
      throw new PoolException(
          Kind.EXISTS,
          spec.path(),
          FileStatus.isDirectory(spec.path())
              ? "found a directory, expected none: name a file in it"
              : """
              found a file, expected none: choose another path, or remove it if nothing in it is \
              needed\
              """);
    }
    try {
      PoolFiles.extend(unfinished, spec.size(), progress);
    } catch (NoSpaceException e) {
      throw noSpace(spec.path(), e);
    }
    FileOwner.share(unfinished, directoryOf(spec.path()));
    try (PersistentMemory memory = MemoryOpener.open(spec.type(), unfinished, lock)) {
      PoolFormatter.format(memory, spec, Session.CLEARED, UUID.randomUUID());
    }
    lock.renew();
    Files.move(unfinished, spec.path(), StandardCopyOption.ATOMIC_MOVE);
    progress.progress(spec.size(), spec.size());
  }

  @SuppressWarnings("try") // what is held is only to be released
  static boolean deleteIf(Path file, BooleanSupplier unused) throws IOException {
    try (InodeLock lock = PoolLock.acquire(file)) {
      boolean delete = unused.getAsBoolean();
      if (delete) {
        Files.delete(file);
      }
      return delete;
    }
  }

  static Pool open(Path file, MemoryType type, PoolOwner expected) throws IOException {
    requireType(file, type);
    requireFile(file);
    PoolAccess.requireWritable(file);
    InodeLock lock = PoolLock.acquire(file);
    try {
      PersistentMemory memory = openMemory(file, type, lock);
      try {
        requireAllocated(file, Superblocks.read(memory).current());
        Pool pool = PoolOpener.open(memory, expected, Session.currentBootId(), lock);
        pool.pageThreads(PoolFile::background);
        return pool;
      } catch (IOException | RuntimeException | Error e) {
        closeAfter(e, memory);
        throw e;
      }
    } catch (IOException | RuntimeException | Error e) {
      closeAfter(e, lock);
      throw e;
    }
  }

  /** As {@link #open}; what is stored in it reaches no file, and no lock is taken. */
  static Pool openOnTrial(Path file, MemoryType type, PoolOwner expected) throws IOException {
    requireType(file, type);
    requireFile(file);
    PoolAccess.requireWritable(file);
    PersistentMemory memory =
        OverlayMemory.over(orRefuse(file, false, () -> MemoryOpener.open(type, file, false)));
    try {
      requireSpaceForHoles(file, Superblocks.read(memory).current());
      return PoolOpener.open(memory, expected, Session.currentBootId(), () -> {});
    } catch (IOException | RuntimeException | Error e) {
      closeAfter(e, memory);
      throw e;
    }
  }

  /** A pool as {@link #create} would make it, without its file. */
  static Pool createOnTrial(PoolSpec spec) throws IOException {
    PersistentMemory memory = OverlayMemory.ofNew(spec.type(), spec.path(), spec.size());
    PoolFormatter.format(memory, spec, Session.CLEARED, UUID.randomUUID());
    return PoolOpener.open(memory, spec.owner(), Session.currentBootId(), () -> {});
  }

  /** Throws as {@link #create} would, as far as that can be seen before. */
  static void requireCreatable(PoolSpec spec) throws IOException {
    spec.validate();
    requireType(spec.path(), spec.type());
    Path directory = requireDirectory(spec.path());
    PoolAccess.requireWritableDirectory(spec.path(), directory);
    requireSpace(spec.path(), directory, spec.size());
  }

  private static Path requireDirectory(Path file) throws PoolException {
    Path directory = directoryOf(file);
    if (!Files.isDirectory(directory)) {
      throw new PoolException(
          Kind.MISSING,
          file,
          "found no directory " + directory + ", expected one: create it, or choose another path");
    }
    return directory;
  }

  private static Thread background(Runnable task) {
    Thread thread = new Thread(task, "strata-pages");
    thread.setDaemon(true);
    return thread;
  }

  static PoolReader openReadOnly(Path file) throws IOException {
    requireFile(file);
    PersistentMemory memory = openMemory(file);
    try {
      return new PoolReader(memory);
    } catch (IOException | RuntimeException | Error e) {
      closeAfter(e, memory);
      throw e;
    }
  }

  static void grow(Path file, long newSize, ProgressListener progress) throws IOException {
    requireFile(file);
    PoolAccess.requireWritable(file);
    try (InodeLock lock = PoolLock.acquire(file)) {
      Superblock before;
      try (PersistentMemory memory = openMemory(file, MemoryType.MAPPED, lock)) {
        before = Superblocks.read(memory).current();
      }
      PoolSpec.requireSize(file, newSize);
      if (newSize <= before.poolSize()) {
        throw new PoolException(
            Kind.INVALID_SPEC,
            file,
            """
            found a pool of %s bytes, expected fewer than the new size of %s: a pool cannot \
            shrink; choose a larger size\
            """
                .formatted(before.poolSize(), newSize));
      }
      // The file may be longer than its pool already: growing it was begun before.
      long fileSize = Files.size(file);
      if (newSize > fileSize) {
        requireSpace(file, directoryOf(file), newSize - fileSize);
        PoolFiles.extend(file, newSize, progress);
      }
      try (PersistentMemory memory = openMemory(file, MemoryType.MAPPED, lock)) {
        Superblocks.Reading reading = Superblocks.read(memory);
        Superblocks.write(memory, reading.current(), reading.toRepair());
        if (fileSize > before.poolSize()) {
          withdrawCleared(memory, reading.current()); // not all of what is added was made here
        }
        Superblocks.writeBoth(memory, reading.current().withSize(newSize));
      }
      progress.progress(newSize, newSize);
    }
  }

  static RepairReport repair(Path file) throws IOException {
    requireFile(file);
    PoolAccess.requireWritable(file);
    try (InodeLock lock = PoolLock.acquire(file);
        PersistentMemory memory = openMemory(file, MemoryType.MAPPED, lock)) {
      return repair(memory);
    }
  }

  static RepairReport repair(PersistentMemory memory) throws IOException {
    return repair(memory, InstantSource.system());
  }

  static RepairReport repair(PersistentMemory memory, InstantSource clock) throws IOException {
    Superblocks.Reading reading = Superblocks.read(memory);
    Superblock superblock = reading.current();
    Session.Reading session = Session.read(memory, superblock.salt());
    PoolScan scan = PoolScan.of(memory, superblock, session.session().open());
    Superblocks.write(memory, superblock, reading.toRepair());
    // A slot that was repaired before is far ahead of all others, and cannot be read.
    long generation =
        Math.max(SlotLayout.GENERATIONS_SKIPPED, SlotLayout.generationAt(clock.millis()));
    for (int index = 0; index < superblock.slotCount(); index++) {
      generation =
          Math.max(generation, scan.generations().get(index) + SlotLayout.GENERATIONS_SKIPPED);
    }
    generation = Math.min(generation, SlotLayout.LAST_GENERATION);
    Set<Integer> damaged = new TreeSet<>();
    scan.findings().forEach(finding -> finding.slot().ifPresent(damaged::add));
    if (!damaged.isEmpty()) {
      // The bytes that become free are not zeros.
      withdrawCleared(memory, superblock);
    }
    for (int index : damaged) {
      PoolFormatter.freeSlot(memory, superblock, index, generation);
    }
    List<CheckFinding> findings = new ArrayList<>(reading.findings());
    session.finding().ifPresent(findings::add);
    findings.addAll(scan.findings());
    return new RepairReport(List.copyOf(damaged), List.copyOf(findings));
  }

  /** Notes for the next opening that it cannot rely on zeros where no segment is. */
  private static void withdrawCleared(PersistentMemory memory, Superblock superblock)
      throws IOException {
    if (Session.read(memory, superblock.salt()).session().cleared()) {
      Session.CLOSED.write(memory, superblock.salt());
    }
  }

  /** Opens a pool's memory for writing. */
  private static PersistentMemory openMemory(Path file, MemoryType type, InodeLock lock)
      throws IOException {
    return orRefuse(file, true, () -> MemoryOpener.open(type, file, lock));
  }

  /** Opens a pool's memory for reading. */
  static PersistentMemory openMemory(Path file) throws IOException {
    return orRefuse(file, false, () -> MemoryOpener.open(MemoryType.MAPPED, file, false));
  }

  /** Turns what goes wrong into a refusal. */
  private static PersistentMemory orRefuse(
      Path file, boolean writable, Interrupts.IoSupplier<PersistentMemory> opening)
      throws IOException {
    try {
      return opening.get();
    } catch (NoSuchFileException e) {
      throw missing(file, e);
    } catch (AccessDeniedException e) {
      throw PoolAccess.refused(file, writable, e);
    }
  }

  static void requireFile(Path file) throws IOException {
    if (FileStatus.of(file).isEmpty()) {
      PoolAccess.requireSearchable(file);
      throw missing(file, null);
    }
    if (!FileStatus.isRegularFile(file)) {
      throw new PoolException(
          Kind.NOT_A_POOL,
          file,
          """
          found something that is not a regular file, expected a pool: name a file that 'strata \
          pool create' has made\
          """);
    }
    if (Files.size(file) == 0) {
      throw new PoolException(
          Kind.NOT_A_POOL,
          file,
          """
          found an empty file, expected a pool: if a pool was here, restore the file from a copy; \
          otherwise remove it and create the pool with 'strata pool create'\
          """);
    }
  }

  static PoolException missing(Path file, @Nullable Throwable e) {
    return new PoolException(
        Kind.MISSING,
        file,
        """
        found no such file, expected a pool: mount its file system or correct the path; a pool \
        that never was is made with 'strata pool create'\
        """,
        e);
  }

  private static void requireType(Path file, MemoryType type) throws PoolException {
    Optional<String> reason = MemoryOpener.unavailable(type);
    if (reason.isPresent()) {
      throw new PoolException(
          Kind.TYPE_UNAVAILABLE,
          file,
          "type %s cannot be used: %s. Or use the type %s"
              .formatted(type.configName(), reason.get(), MemoryType.MAPPED.configName()));
    }
  }

  /** Fills the holes that a sparse copy has, or that a full file system has left. */
  private static void requireAllocated(Path file, Superblock superblock) throws IOException {
    if (lacksBlocks(file, superblock)) {
      Optional<String> obstacle = PoolFiles.fillHoles(file);
      if (obstacle.isPresent() || lacksBlocks(file, superblock)) {
        throw new PoolException(
            Kind.SPARSE,
            file,
            """
            found %s bytes allocated, expected all %s: an append could run out of space in the \
            middle, and allocating the rest failed (%s); free space on its file system, or move \
            the pool to another\
            """
                .formatted(
                    PoolFiles.allocatedBytes(file).orElse(0),
                    superblock.poolSize(),
                    obstacle.orElse("its file system reserves no space")));
      }
    }
  }

  private static void requireSpaceForHoles(Path file, Superblock superblock) throws IOException {
    if (lacksBlocks(file, superblock)) {
      long allocated = PoolFiles.allocatedBytes(file).orElse(0);
      requireSpace(file, directoryOf(file), superblock.poolSize() - allocated);
    }
  }

  private static boolean lacksBlocks(Path file, Superblock superblock) throws IOException {
    OptionalLong allocated = PoolFiles.allocatedBytes(file);
    return allocated.isPresent() && allocated.getAsLong() < superblock.poolSize();
  }

  private static void requireSpace(Path file, Path directory, long size) throws IOException {
    long usable = Files.getFileStore(directory).getUsableSpace();
    if (usable < size) {
      throw new PoolException(
          Kind.NO_SPACE,
          file,
          """
          found %s bytes usable on its file system, expected %s: free space, or choose a smaller \
          size\
          """
              .formatted(usable, size));
    }
  }

  /** The failure names another file: the one that is being written. */
  private static PoolException noSpace(Path file, NoSpaceException e) {
    return new PoolException(Kind.NO_SPACE, file, String.valueOf(e.getReason()), e);
  }

  static Path directoryOf(Path file) {
    Path parent = file.toAbsolutePath().getParent();
    return parent == null ? file.toAbsolutePath() : parent;
  }

  private static void forceDirectory(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  private static void closeAfter(Throwable failure, AutoCloseable resource) {
    try {
      resource.close();
    } catch (Exception e) {
      failure.addSuppressed(e);
    }
  }
}
