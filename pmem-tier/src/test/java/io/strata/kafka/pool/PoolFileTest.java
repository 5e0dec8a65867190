package io.strata.kafka.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.layout.SuperblockLayout;
import io.strata.kafka.memory.MadeFile;
import io.strata.kafka.memory.MemoryDirectory;
import io.strata.kafka.memory.MemoryOpener;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.PageTables;
import io.strata.kafka.memory.PoolFiles;
import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.pool.words.CheckFinding.Severity;
import io.strata.kafka.pool.words.PoolException;
import io.strata.kafka.pool.words.PoolException.Kind;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Pools as files: what is refused, and with which words; creation, growing, repair. */
class PoolFileTest {
  private static final long SIZE = 4 << 20;
  private static final UUID DIRECTORY = new UUID(3, 4);
  private static final PoolOwner OWNER = PoolOwner.of(7, "cluster-a");
  private static final String THIS_PROCESS =
      "found it locked by process " + ProcessHandle.current().pid();

  @TempDir private Path directory;
  private Path file = Path.of("unset");

  @BeforeEach
  void namePool() {
    file = directory.resolve("x.pool");
  }

  private void create() throws IOException {
    Pool.create(PoolSpec.of(file, MemoryType.MAPPED, SIZE).withOwner(OWNER), ProgressListener.NONE);
  }

  private Pool open() throws IOException {
    return Pool.open(file, MemoryType.MAPPED, OWNER);
  }

  /** Creates a pool with one segment of 1,000 bytes. */
  private Slot createWithSegment() throws IOException {
    create();
    try (Pool pool = open()) {
      Slot slot = pool.allocateSlot(DIRECTORY, "t-0/0.log").orElseThrow();
      assertThat(slot.grow()).isTrue();
      slot.commit(1000);
      return slot;
    }
  }

  private void assertRefused(Kind kind, ThrowingCallable call, String... words) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(PoolException.class, e -> assertThat(e.kind()).isEqualTo(kind))
        .hasMessageStartingWith("pool " + file + ": ")
        .hasMessageContainingAll(words);
  }

  private void put(long position, ByteBuffer bytes) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      assertThat(channel.write(bytes, position)).isEqualTo(bytes.limit());
    }
  }

  private ByteBuffer get(long position, int length) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      assertThat(channel.read(bytes, position)).isEqualTo(length);
    }
    return bytes.flip();
  }

  private void flip(long position) throws IOException {
    ByteBuffer bytes = get(position, 1);
    put(position, bytes.put(0, (byte) (bytes.get(0) ^ 0x10)));
  }

  @ParameterizedTest
  @EnumSource(MemoryType.class)
  void everyTypeKeepsASegment(MemoryType type) throws IOException {
    assumeThat(MemoryOpener.unavailable(type)).isEmpty();
    Pool.create(PoolSpec.of(file, type, SIZE).withOwner(OWNER), ProgressListener.NONE);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    assertThat(Files.size(file)).isEqualTo(SIZE);
    assertThat(PoolFiles.allocatedBytes(file).orElse(SIZE)).isGreaterThanOrEqualTo(SIZE);
    int index;
    long generation;
    try (Pool pool = Pool.open(file, type, OWNER)) {
      assertThat(pool.info().type()).isEqualTo(type);
      assertThat(pool.info().owner()).isEqualTo(OWNER);
      Slot slot = pool.allocateSlot(DIRECTORY, "t-0/0.log").orElseThrow();
      assertThat(slot.grow()).isTrue();
      pool.memory().storeAndPersist(slot.extents().position(0), ByteBuffer.wrap(new byte[] {1, 2}));
      slot.commit(2);
      slot.force(0, 2);
      index = slot.index();
      generation = slot.generation();
    }
    try (Pool pool = Pool.open(file, type, OWNER)) {
      assertThat(pool.slot(index, generation).orElseThrow().committedLength()).isEqualTo(2);
      assertThat(pool.report().repaired()).isEmpty();
    }
    assertThat(PoolChecker.check(file).clean()).isTrue();
    assertThat(directory).isDirectoryNotContaining("glob:**.lock");
    assertThat(directory).isDirectoryNotContaining("glob:**.creating");
  }

  /** On a memory-backed file system, and in any case where pages are what is durable. */
  @Test
  void thePagesOfAnOpenPoolArePresentUnlessItNeedsAForce(
      @TempDir(factory = MemoryDirectory.OnTmpfs.class) Path memoryBacked) throws IOException {
    Path onTmpfs = memoryBacked.resolve("x.pool");
    Pool.create(PoolSpec.of(onTmpfs, MemoryType.MAPPED, SIZE), ProgressListener.NONE);
    try (Pool pool = Pool.open(onTmpfs, MemoryType.MAPPED, OWNER)) {
      assumeThat(pool.memory().durability().needsForce()).isFalse();
      assumeThat(pool.memory().populate(0, 4096)).isTrue();
      pool.keepPagesPresent();
      Awaitility.await()
          .atMost(Duration.ofMinutes(5))
          .until(() -> PageTables.kibibytesOf(onTmpfs) >= pool.info().dataSize() >> 10);
    }
  }

  @Test
  void missing() {
    assertRefused(
        Kind.MISSING, this::open, "found no such file, expected a pool", "strata pool create");
    assertRefused(Kind.MISSING, () -> Pool.openReadOnly(file), "found no such file");
    assertRefused(Kind.MISSING, () -> PoolChecker.check(file), "found no such file");
    assertRefused(Kind.MISSING, () -> Pool.repair(file), "found no such file");
    assertRefused(Kind.MISSING, () -> Pool.grow(file, SIZE, ProgressListener.NONE), "no such file");
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void missingDirectory() {
    file = directory.resolve("none/x.pool");
    assertRefused(Kind.MISSING, this::create, "found no directory " + directory.resolve("none"));
  }

  @Test
  void existing() throws IOException {
    create();
    ByteBuffer before = get(0, 4096);
    assertRefused(Kind.EXISTS, this::create, "found a file, expected none");
    assertThat(get(0, 4096)).isEqualTo(before);
  }

  @Test
  void anUnfinishedCreationIsNoObstacle() throws IOException {
    Files.write(directory.resolve("x.pool.creating"), new byte[100]);
    create();
    assertThat(directory).isDirectoryNotContaining("glob:**.creating");
    open().close();
  }

  @Test
  void notAPool() throws IOException {
    MadeFile.of(file, SIZE);
    assertRefused(
        Kind.NOT_A_POOL,
        this::open,
        "found magic 0x0000000000000000",
        "expected 0x4c50415441525453",
        "a pool whose superblocks are destroyed",
        "strata pool create");
    Files.delete(file);
    Files.write(file, "hello".getBytes(StandardCharsets.UTF_8));
    assertRefused(Kind.NOT_A_POOL, this::open, "found magic");
    Files.write(file, new byte[0]);
    assertRefused(Kind.NOT_A_POOL, this::open, "found an empty file");
    file = directory;
    assertRefused(Kind.NOT_A_POOL, this::open, "found something that is not a regular file");
  }

  @Test
  void otherOwner() throws IOException {
    create();
    assertRefused(
        Kind.OTHER_OWNER,
        () -> Pool.open(file, MemoryType.MAPPED, PoolOwner.of(8, "cluster-a")),
        "found a pool of broker 7 of cluster cluster-a",
        "expected one of broker 8 of cluster cluster-a",
        "drain");
    assertRefused(
        Kind.OTHER_OWNER,
        () -> Pool.open(file, MemoryType.MAPPED, PoolOwner.of(7, "cluster-b")),
        "cluster-b");
    Pool.open(file, MemoryType.MAPPED, PoolOwner.ANY).close();
    Pool.open(file, MemoryType.MAPPED, new PoolOwner(OptionalInt.of(7), Optional.empty())).close();
  }

  @Test
  void aPoolWithoutOwnerIsBoundToTheFirst() throws IOException {
    Pool.create(PoolSpec.of(file, MemoryType.MAPPED, SIZE), ProgressListener.NONE);
    try (Pool pool = Pool.open(file, MemoryType.MAPPED, PoolOwner.ANY)) {
      assertThat(pool.report().bound()).isFalse();
    }
    try (Pool pool = open()) {
      assertThat(pool.report().bound()).isTrue();
      assertThat(pool.info().owner()).isEqualTo(OWNER);
    }
    assertRefused(
        Kind.OTHER_OWNER,
        () -> Pool.open(file, MemoryType.MAPPED, PoolOwner.of(8, "cluster-a")),
        "broker 7");
    assertThat(PoolChecker.check(file).clean()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(ints = {256, 1024})
  void newerVersion(int headerLength) throws IOException {
    createWithSegment();
    for (long copy : new long[] {SuperblockLayout.FIRST_COPY, SuperblockLayout.SECOND_COPY}) {
      ByteBuffer header = get(copy, headerLength);
      header.putInt(SuperblockLayout.VERSION_OFFSET, 9);
      header.putInt(SuperblockLayout.HEADER_LENGTH_OFFSET, headerLength);
      CRC32C crc = new CRC32C();
      crc.update(header.slice(0, headerLength - 4));
      put(copy, header.putInt(headerLength - 4, (int) crc.getValue()));
    }
    for (ThrowingCallable opening :
        new ThrowingCallable[] {this::open, () -> Pool.openReadOnly(file)}) {
      assertRefused(
          Kind.NEWER_VERSION,
          opening,
          "pool %s: found layout version 9, expected at most 1: a newer Strata made it"
              .formatted(file),
          "run 'strata drain' with the newer jar, remove this file");
    }
    assertThat(PoolChecker.check(file).usable()).isFalse();
  }

  @Test
  void bothSuperblocksBroken() throws IOException {
    createWithSegment();
    flip(SuperblockLayout.FIRST_COPY + 40);
    flip(SuperblockLayout.SECOND_COPY + 90);
    assertRefused(
        Kind.CORRUPT,
        this::open,
        "both copies of the superblock are broken",
        "first found checksum 0x",
        "second found checksum 0x",
        "strata accept-loss");
    assertRefused(Kind.CORRUPT, () -> Pool.openReadOnly(file), "both copies");
    assertRefused(Kind.CORRUPT, () -> Pool.repair(file), "both copies");
  }

  @Test
  void superblocksOfTwoPools() throws IOException {
    create();
    ByteBuffer other = get(SuperblockLayout.FIRST_COPY, 4096);
    Files.delete(file);
    create();
    put(SuperblockLayout.FIRST_COPY, other);
    assertRefused(Kind.CORRUPT, this::open, "found two different superblocks");
  }

  @Test
  void aMomentThatIsNotThere() throws IOException {
    create();
    try (Pool pool = open()) {
      assertRefused(
          Kind.CORRUPT,
          () -> pool.moments().settle(UUID.randomUUID()),
          "found no whole moment of log directory");
    }
  }

  @ParameterizedTest
  @CsvSource({"0", "4096"})
  void oneSuperblockBroken(long copy) throws IOException {
    Slot slot = createWithSegment();
    ByteBuffer before = get(copy, 4096);
    flip(copy + 45);
    assertThat(PoolChecker.check(file).findings())
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.severity()).isEqualTo(Severity.WARNING);
              assertThat(finding.position()).isEqualTo(copy);
              assertThat(finding.found()).contains("checksum");
            });
    try (PoolReader reader = Pool.openReadOnly(file)) {
      assertThat(reader.read(slot.index(), slot.generation())).isPresent();
    }
    assertThat(PoolChecker.check(file).clean()).as("reading repairs nothing").isFalse();
    try (Pool pool = open()) {
      assertThat(pool.report().repaired()).hasSize(1);
      assertThat(pool.slots()).hasSize(1);
    }
    assertThat(get(copy, 4096)).isEqualTo(before);
    assertThat(PoolChecker.check(file).clean()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(longs = {256, 4096, 8192, 13000, 2 << 20, (4 << 20) - 1})
  void truncated(long length) throws IOException {
    createWithSegment();
    try (RandomAccessFile cut = new RandomAccessFile(file.toFile(), "rw")) {
      cut.setLength(length);
    }
    for (ThrowingCallable opening :
        new ThrowingCallable[] {
          this::open, () -> Pool.openReadOnly(file), () -> Pool.repair(file)
        }) {
      assertRefused(
          Kind.TRUNCATED,
          opening,
          "found a file of " + length + " bytes, expected 4194304",
          "restore the file");
    }
    assertThat(PoolChecker.check(file).usable()).isFalse();
  }

  /** Root may write all the same, and does not. */
  @Test
  void nobodyMayWrite() throws IOException {
    createWithSegment();
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r--r--r--"));
    String[] words = {
      "found no permission for user " + System.getProperty("user.name") + " to write to it",
      "owner " + Files.getOwner(file).getName(),
      "mode r--r--r--",
      "chmod u+rw " + file
    };
    assertRefused(Kind.NO_PERMISSION, this::open, words);
    assertRefused(
        Kind.NO_PERMISSION, () -> Pool.grow(file, 2 * SIZE, ProgressListener.NONE), words);
    try (PoolReader reader = Pool.openReadOnly(file)) {
      assertThat(reader.readAll()).hasSize(1);
    }
  }

  /** Mounted so, or stopped by the kernel after an error: the two cannot be told apart. */
  @Test
  void theFileSystemRefusesWrites() {
    assertThat(PoolAccess.refused(file, new FileSystemException("", null, "Read-only file system")))
        .isInstanceOfSatisfying(
            PoolException.class, e -> assertThat(e.kind()).isEqualTo(Kind.READ_ONLY))
        .hasMessageContainingAll(
            "pool " + file,
            "found that its file system refuses writes",
            "remount,rw",
            "dmesg",
            "fsck");
  }

  @Test
  void lockedByThisProcess() throws IOException {
    create();
    try (Pool pool = open()) {
      for (int i = 0; i < 2; i++) {
        assertRefused(Kind.LOCKED, this::open, THIS_PROCESS);
      }
      assertRefused(Kind.LOCKED, () -> Pool.repair(file), "locked");
      assertRefused(Kind.LOCKED, () -> Pool.grow(file, 2 * SIZE, ProgressListener.NONE), "locked");
      assertThat(pool.allocateSlot(DIRECTORY, "still works")).isPresent();
      try (PoolReader reader = Pool.openReadOnly(file)) {
        assertThat(reader.readAll()).as("readers need no lock").hasSize(1);
      }
    }
    open().close();
  }

  @Test
  void lockedByAnotherProcess() throws Exception {
    create();
    Process holder = holdLock(file);
    try {
      for (int i = 0; i < 2; i++) {
        assertRefused(
            Kind.LOCKED,
            this::open,
            "found it locked by process " + holder.pid(),
            "stop that process");
      }
    } finally {
      holder.destroyForcibly().waitFor();
    }
    open().close();
  }

  private static Process holdLock(Path file) throws IOException {
    Process holder =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElse("java"),
                "-cp",
                System.getProperty("java.class.path"),
                LockHolder.class.getName(),
                file.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String line =
        new BufferedReader(new InputStreamReader(holder.getInputStream(), StandardCharsets.UTF_8))
            .readLine();
    assertThat(line).isEqualTo("locked");
    return holder;
  }

  /** The lock is the file's, by whatever name it is opened. */
  @Test
  void lockedByThisProcessUnderAnotherName() throws IOException {
    create();
    Path target = file;
    try (Pool pool = open()) {
      file = Files.createSymbolicLink(directory.resolve("link.pool"), target);
      assertRefused(Kind.LOCKED, this::open, THIS_PROCESS);
      assertRefused(Kind.LOCKED, () -> Pool.repair(file), "locked");
      file = directory.resolve("links").resolve(target.getFileName());
      Path unused = Files.createSymbolicLink(file.getParent(), directory);
      assertRefused(Kind.LOCKED, this::open, THIS_PROCESS);
      assertThat(pool.allocateSlot(DIRECTORY, "still works")).isPresent();
    }
    open().close();
  }

  @Test
  void lockedByAnotherProcessUnderAnotherName() throws Exception {
    create();
    Path target = file;
    Process holder = holdLock(file);
    try {
      file = Files.createSymbolicLink(directory.resolve("link.pool"), target);
      assertRefused(
          Kind.LOCKED, this::open, "link.pool", "found it locked by process " + holder.pid());
    } finally {
      holder.destroyForcibly().waitFor();
    }
    open().close();
  }

  /** As a container has a pool that it was given as a file: the mount point has no neighbours. */
  @Test
  void lockedByAnotherProcessThroughAnotherMount() throws Exception {
    create();
    Path target = file;
    file = Files.createFile(Files.createDirectory(directory.resolve("mounts")).resolve("x.pool"));
    assumeThat(run("mount", "--bind", target.toString(), file.toString())).isEmpty();
    try {
      assertRefusedWhileHeldAs(target);
    } finally {
      assertThat(run("umount", "-l", file.toString())).isEmpty();
    }
  }

  /** Both processes see the file through one overlay, as two containers that share a volume do. */
  @Test
  void lockedByAnotherProcessThroughAMountOfAnOverlay() throws Exception {
    List<String> layers = new ArrayList<>();
    for (String name : List.of("lower", "upper", "work", "merged", "again")) {
      layers.add(Files.createDirectory(directory.resolve(name)).toString());
    }
    String options = "lowerdir=%s,upperdir=%s,workdir=%s".formatted(layers.toArray());
    file = directory.resolve("lower/x.pool");
    create(); // opening it for writing copies it to the upper layer
    String merged = layers.get(3);
    assumeThat(run("mount", "-t", "overlay", "-o", options, "overlay", merged)).isEmpty();
    try {
      assertThat(run("mount", "--bind", merged, layers.get(4))).isEmpty();
      file = directory.resolve("again/x.pool");
      assertRefusedWhileHeldAs(directory.resolve("merged/x.pool"));
    } finally {
      String unused = run("umount", "-l", layers.get(4));
      assertThat(run("umount", "-l", merged)).isEmpty();
    }
  }

  @Test
  void lockedByAnotherProcessThroughAHardLink() throws Exception {
    create();
    Path target = file;
    file = Files.createLink(directory.resolve("second.pool"), target);
    assertRefusedWhileHeldAs(target);
    Files.delete(target);
    open().close();
  }

  private void assertRefusedWhileHeldAs(Path name) throws Exception {
    Process holder = holdLock(name);
    try {
      String byHolder = "found it locked by process " + holder.pid();
      assertRefused(Kind.LOCKED, this::open, byHolder, "pool " + file);
      assertRefused(Kind.LOCKED, () -> Pool.repair(file), byHolder);
      assertRefused(Kind.LOCKED, () -> Pool.grow(file, 2 * SIZE, ProgressListener.NONE), byHolder);
      assertRefused(Kind.LOCKED, () -> Pool.deleteIf(file, () -> true), byHolder);
      assertThat(Files.size(file)).isEqualTo(SIZE);
    } finally {
      holder.destroyForcibly().waitFor();
    }
    open().close();
  }

  /** Empty if all went well. */
  private static String run(String... command) throws IOException, InterruptedException {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String output =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      int code = process.waitFor();
      return code == 0 ? "" : List.of(command) + ": " + code + " " + output;
    } catch (IOException e) {
      return List.of(command) + ": " + e.getMessage();
    }
  }

  /** Holds a pool's lock until it is killed. */
  static final class LockHolder {
    private LockHolder() {}

    public static void main(String[] args) throws Exception {
      try (Pool pool = Pool.open(Path.of(args[0]), MemoryType.MAPPED, OWNER)) {
        // A second opening is refused, and must not drop the lock that is held.
        try {
          Pool.open(Path.of(args[0]), MemoryType.MAPPED, OWNER).close();
        } catch (PoolException e) {
          assertThat(e.kind()).isEqualTo(Kind.LOCKED);
        }
        System.out.println("locked");
        Thread.sleep(Duration.ofMinutes(1).toMillis());
        assertThat(pool.slots()).isEmpty();
      }
    }
  }

  /** A copy that was made without the zeros, for one. */
  @Test
  void theHolesOfASparsePoolAreFilled() throws IOException {
    createWithSegment();
    Path dense = file;
    file = directory.resolve("sparse.pool");
    Files.copy(dense, file);
    assumeThat(PoolFiles.allocatedBytes(file)).isPresent();
    try (RandomAccessFile hole = new RandomAccessFile(file.toFile(), "rw")) {
      hole.setLength(3 << 20);
      hole.setLength(SIZE);
    }
    assertThat(PoolFiles.allocatedBytes(file).orElseThrow()).isLessThan(SIZE);
    try (Pool pool = open()) {
      assertThat(PoolFiles.allocatedBytes(file).orElseThrow()).isGreaterThanOrEqualTo(SIZE);
      assertThat(pool.slots()).singleElement().returns(1000L, Slot::committedLength);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "4194303, 4, 1, c, found size 4194303",
    "4194304, 0, 1, c, found slot count 0",
    "4194304, 2037, 1, c, leave no space for data",
    "4194304, 4, -1, c, found broker id -1",
    "4194304, 4, 1, '', found a cluster id of 0 bytes",
    "4194304, 4, 1, 0123456789012345678901234567890123456789012345678901234567890123x, 65 bytes"
  })
  void invalidSpec(long size, int slots, int broker, String cluster, String words) {
    PoolSpec spec =
        PoolSpec.of(file, MemoryType.MAPPED, size)
            .withSlotCount(slots)
            .withOwner(PoolOwner.of(broker, cluster));
    assertRefused(Kind.INVALID_SPEC, () -> Pool.create(spec, ProgressListener.NONE), words);
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void noSpace() {
    PoolSpec spec = PoolSpec.of(file, MemoryType.MAPPED, 100L << 40).withSlotCount(10);
    assertRefused(
        Kind.NO_SPACE,
        () -> Pool.create(spec, ProgressListener.NONE),
        "bytes usable on its file system, expected 109951162777600");
    assertThat(directory).isDirectoryNotContaining("glob:**x.pool");
  }

  @Test
  void growing() throws IOException {
    Slot slot = createWithSegment();
    assertRefused(
        Kind.INVALID_SPEC,
        () -> Pool.grow(file, SIZE, ProgressListener.NONE),
        "found a pool of 4194304 bytes",
        "cannot shrink");
    Pool.grow(file, 70L << 20, ProgressListener.NONE);
    assertThat(Files.size(file)).isEqualTo(70L << 20);
    try (Pool pool = open()) {
      assertThat(pool.info().size()).isEqualTo(70L << 20);
      assertThat(pool.info().dataSize()).isEqualTo(68L << 20);
      assertThat(pool.info().slotCount()).isEqualTo(4);
      assertThat(pool.report().repaired()).isEmpty();
      Slot same = pool.slot(slot.index(), slot.generation()).orElseThrow();
      assertThat(same.committedLength()).isEqualTo(1000);
      while (same.grow()) {
        assertThat(same.extents().end()).isLessThanOrEqualTo(68L << 20);
      }
      assertThat(same.extents().end()).isEqualTo(68L << 20);
    }
    assertThat(PoolChecker.check(file).clean()).isTrue();
  }

  @Test
  void growingThatDiedBetweenTheCopiesIsFinished() throws IOException {
    createWithSegment();
    ByteBuffer before = get(SuperblockLayout.FIRST_COPY, 4096);
    Pool.grow(file, 2 * SIZE, ProgressListener.NONE);
    put(SuperblockLayout.FIRST_COPY, before);
    assertThat(PoolChecker.check(file).findings())
        .singleElement()
        .asString()
        .contains("sequence 1", "sequence 2");
    try (Pool pool = open()) {
      assertThat(pool.info().size()).isEqualTo(2 * SIZE);
      assertThat(pool.report().repaired()).hasSize(1);
    }
    assertThat(PoolChecker.check(file).clean()).isTrue();
  }

  @Test
  void growingThatDiedBeforeTheCopiesCanBeDoneAgain() throws IOException {
    createWithSegment();
    PoolFiles.extend(file, 2 * SIZE, ProgressListener.NONE);
    try (Pool pool = open()) {
      assertThat(pool.info().size()).isEqualTo(SIZE);
    }
    Pool.grow(file, 2 * SIZE, ProgressListener.NONE);
    try (Pool pool = open()) {
      assertThat(pool.info().size()).isEqualTo(2 * SIZE);
    }
  }

  @Test
  void damagedSlotsAreRefusedUntilTheOperatorGivesThemUp() throws IOException {
    Slot lost = createWithSegment();
    Slot kept;
    try (Pool pool = open()) {
      kept = pool.allocateSlot(DIRECTORY, "kept").orElseThrow();
      assertThat(kept.grow()).isTrue();
      kept.commit(500);
    }
    flip(SlotLayout.slotPosition(lost.index()) + 17);
    assertRefused(
        Kind.CORRUPT,
        this::open,
        "found damaged slots, expected none: ERROR slot " + lost.index() + " at 12304",
        "strata pool repair");
    assertThat(PoolChecker.check(file).usable()).isFalse();

    RepairReport report = Pool.repair(file);

    assertThat(report.freedSlots()).containsExactly(lost.index());
    assertThat(report.findings()).hasSize(1);
    assertThat(PoolChecker.check(file).clean()).isTrue();
    try (Pool pool = open()) {
      assertThat(pool.slots()).extracting(Slot::relativePath).containsExactly("kept");
      assertThat(pool.generation(lost.index())).isGreaterThan(lost.generation());
      assertThat(PoolTest.allocateAgain(pool, lost.index()).generation())
          .isGreaterThan(lost.generation() + 1);
    }
  }

  @Test
  void tenThousandSegmentsAreOpenedFast() throws IOException {
    // Formatted in memory-backed storage where there is one: this is about the scan.
    Path fast = Path.of("/dev/shm");
    if (Files.isWritable(fast)) {
      file = Files.createTempDirectory(fast, "strata-pool-test").resolve("x.pool");
    }
    try {
      Pool.create(
          PoolSpec.of(file, MemoryType.MAPPED, 64L << 20).withSlotCount(10_000),
          ProgressListener.NONE);
      try (Pool pool = Pool.open(file, MemoryType.MAPPED, PoolOwner.ANY)) {
        for (int i = 0; i < 10_000; i++) {
          Slot slot = pool.allocateSlot(DIRECTORY, "t-" + i + "/0.log").orElseThrow();
          if (i < 800) {
            assertThat(slot.grow()).isTrue();
          }
        }
      }
      long before = processorNanos();
      try (Pool pool = Pool.open(file, MemoryType.MAPPED, PoolOwner.ANY)) {
        assertThat(pool.usage().liveSlots()).isEqualTo(10_000);
      }
      // Of this thread, whatever else the machine does.
      assertThat(processorNanos() - before).isLessThan(Duration.ofSeconds(2).toNanos());
    } finally {
      Files.deleteIfExists(file);
      if (!file.startsWith(directory)) {
        Files.deleteIfExists(file.getParent());
      }
    }
  }

  private static long processorNanos() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }
}
