package io.strata.kafka.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.memory.calls.LibC;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.NonWritableChannelException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The further promises of a memory over a file. */
abstract class FileBackedContract extends MemoryContract {
  /** Calls enough for the optimizing compiler to have compiled what they run. */
  private static final int WARM = 30_000;

  private static final int STRUCK = 2_000;

  private final MemoryType type;

  FileBackedContract(MemoryType type) {
    this.type = type;
  }

  /** On the file system to test on. */
  abstract Path directory();

  @BeforeEach
  @Override
  void createMemory() throws IOException {
    MemoryOpener.unavailable(type)
        .ifPresent(reason -> Assumptions.abort(type.configName() + ": " + reason));
    super.createMemory();
  }

  @Override
  PersistentMemory create(int size) throws IOException {
    MadeFile.of(file(), size);
    return MemoryOpener.open(type, file(), true);
  }

  @Override
  MemoryType expectedType() {
    return type;
  }

  @Override
  Durability expectedDurability() throws IOException {
    if (FileProbe.isMemoryBacked(directory())) {
      return Durability.PROCESS;
    }
    return type != MemoryType.FILE && FileProbe.isDax(file()) ? Durability.POWER : Durability.FORCE;
  }

  @Test
  void isInTheFileForOthersToSee() throws IOException {
    byte[] bytes = random(SIZE, 1);
    memory().storeAndPersist(0, ByteBuffer.wrap(bytes));
    assertThat(Files.readAllBytes(file())).isEqualTo(bytes);
    assertThat(memory().path()).isEqualTo(file());
  }

  @Test
  void keepsItsBytesWhenOpenedAgain() throws Exception {
    byte[] bytes = random(SIZE, 2);
    memory().storeAndPersist(0, ByteBuffer.wrap(bytes));
    memory().close();
    try (PersistentMemory again = MemoryOpener.open(type, file(), true)) {
      assertThat(load(again, 0, SIZE)).isEqualTo(bytes);
    }
  }

  @Test
  void storesNothingWhenReadOnly() throws Exception {
    byte[] bytes = random(SIZE, 3);
    memory().store(0, ByteBuffer.wrap(bytes));
    try (PersistentMemory readOnly = MemoryOpener.open(type, file(), false)) {
      assertThat(readOnly.writable()).isFalse();
      assertThat(readOnly.durability()).isEqualTo(expectedDurability());
      assertThat(load(readOnly, 0, SIZE)).isEqualTo(bytes);
      ByteBuffer source = ByteBuffer.allocate(16);
      for (ThrowingCallable call :
          List.<ThrowingCallable>of(
              () -> readOnly.store(0, source),
              () -> readOnly.storeAndPersist(0, source),
              () -> readOnly.storeLong(0, 1),
              () -> readOnly.zero(0, 16),
              () -> readOnly.zeroRange(0, 16))) {
        assertThatThrownBy(call).isInstanceOf(NonWritableChannelException.class);
      }
      assertThat(source.position()).isZero();
      readOnly.persist(0, 16);
      readOnly.force(0, 16);
      memory().storeLong(0, 42);
      assertThat(readOnly.loadLong(0)).as("a store through another memory").isEqualTo(42);
    }
    assertThat(load(8, SIZE - 8)).isEqualTo(Arrays.copyOfRange(bytes, 8, SIZE));
  }

  @Test
  void opensOnlyWhatIsThere() throws IOException {
    assertThatThrownBy(() -> MemoryOpener.open(type, directory().resolve("none"), true))
        .isInstanceOf(NoSuchFileException.class);
    Path empty = Files.createFile(directory().resolve("empty"));
    assertThatThrownBy(() -> MemoryOpener.open(type, empty, true))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("empty");
  }

  @Test
  void opensForAnInterruptedThread() throws Exception {
    try {
      Thread.currentThread().interrupt();
      try (PersistentMemory again = MemoryOpener.open(type, file(), true)) {
        assertThat(again.size()).isEqualTo(SIZE);
      }
      assertThat(Thread.currentThread().isInterrupted()).isTrue();
    } finally {
      Thread.interrupted();
    }
  }

  @Test
  void populatingChangesNoByteAndSparesStoresThePageFaults() throws Exception {
    byte[] bytes = random(SIZE, 4);
    memory().store(0, ByteBuffer.wrap(bytes));
    try (PersistentMemory again = MemoryOpener.open(type, file(), true)) {
      boolean populated = again.populate(0, SIZE);
      assertThat(populated).isEqualTo(type != MemoryType.FILE && LibC.available());
      if (populated) {
        assertThat(PageTables.kibibytesOf(file())).isGreaterThanOrEqualTo(2L * (SIZE >> 10));
        assertThatThrownBy(() -> again.populate(4096, SIZE))
            .isInstanceOf(IndexOutOfBoundsException.class);
      }
      assertThat(load(again, 0, SIZE)).isEqualTo(bytes);
    }
    try (PersistentMemory readOnly = MemoryOpener.open(type, file(), false)) {
      assertThat(readOnly.populate(0, SIZE)).isFalse();
    }
  }

  @Test
  void reachesBeyondTwoGibibytes() throws Exception {
    Path large = directory().resolve("large");
    long size = (2L << 30) + (200 << 20);
    try (RandomAccessFile file = new RandomAccessFile(large.toFile(), "rw")) {
      file.setLength(size); // sparse: only what this test stores takes space
    }
    int length = 1 << 20;
    try (PersistentMemory memory = MemoryOpener.open(type, large, true)) {
      for (long position :
          new long[] {
            (1L << 30) - length / 2,
            (1L << 30) + (64 << 20) - length / 2,
            (2L << 30) - 1,
            size - length
          }) {
        byte[] bytes = random(length, position);
        memory.storeAndPersist(position, ByteBuffer.wrap(bytes));
        assertThat(load(memory, position, length)).isEqualTo(bytes);
        memory.storeLong(position & -8, 3);
        assertThat(memory.loadLong(position & -8)).isEqualTo(3);
        memory.zero(position, length);
        assertThat(load(memory, position, length)).isEqualTo(new byte[length]);
        memory.force(position, length);
      }
    } finally {
      Files.delete(large);
    }
  }

  @Test
  void aLoadAboveWhereTheFileWasTruncatedIsAnIOException() throws IOException {
    byte[] ones = ones(163_840);
    ByteBuffer target = ByteBuffer.allocate(ones.length);
    fails(
        position -> {
          memory().load(position, target.clear());
          assertThat(target.array()).isEqualTo(ones);
        });
    assertThat(target.position()).as("after a failed load").isZero();
    ByteBuffer small = ByteBuffer.allocate(5);
    fails(position -> memory().load(position, small.clear()));
  }

  @Test
  void aLoadOfAWordAboveWhereTheFileWasTruncatedIsAnIOException() throws IOException {
    fails(position -> assertThat(memory().loadLong(position)).isEqualTo(-1));
  }

  @Test
  void aStoreOfAWordAboveWhereTheFileWasTruncatedIsAnIOException() throws IOException {
    fails(position -> memory().storeLong(position, -1));
  }

  @Test
  void aTransferFromAboveWhereTheFileWasTruncatedIsAnIOException() throws IOException {
    try (FileChannel target =
        FileChannel.open(
            directory().resolve("target"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      truncate();
      assertThatThrownBy(() -> memory().transferTo(SIZE / 2, 100, target.position(0)))
          .isInstanceOf(IOException.class);
      assertThat(memory().transferTo(0, 100, target)).isEqualTo(100);
    }
  }

  /** Bytes that a load has returned are right even if the file is cut at that very moment. */
  @Test
  void aLoadDuringTheTruncationGivesTheRightBytesOrAnIOException() throws Exception {
    byte[] ones = ones(SIZE);
    for (int round = 0; round < 20; round++) {
      grow();
      memory().store(0, ByteBuffer.wrap(ones));
      CountDownLatch running = new CountDownLatch(2);
      FutureTask<Long> bulk = loadUntilItFails(running, 65_536);
      FutureTask<Long> words = loadUntilItFails(running, Long.BYTES);
      running.await();
      truncate();
      assertThat(bulk.get()).isPositive();
      assertThat(words.get()).isPositive();
    }
  }

  private FutureTask<Long> loadUntilItFails(CountDownLatch running, int length) {
    FutureTask<Long> task =
        new FutureTask<>(
            () -> {
              Random random = new Random(length);
              byte[] expected = ones(length);
              ByteBuffer target = ByteBuffer.allocate(length);
              for (long loads = 1; ; loads++) {
                long position = random.nextInt(SIZE - length) & -8;
                try {
                  if (length == Long.BYTES) {
                    target.putLong(0, memory().loadLong(position));
                  } else {
                    memory().load(position, target.clear());
                  }
                } catch (IOException e) {
                  return loads;
                }
                assertThat(target.array()).isEqualTo(expected);
                running.countDown();
              }
            });
    new Thread(task, "loads of " + length).start();
    return task;
  }

  /** A call at a position, as often as asked. */
  interface Call {
    void at(long position) throws IOException;
  }

  /**
   * Runs a call until it is compiled, truncates the file, and expects every further call above the
   * new end to fail, and every one below it to do its work.
   */
  final void fails(Call call) throws IOException {
    if (Files.size(file()) < SIZE) {
      grow();
    }
    memory().store(0, ByteBuffer.wrap(ones(SIZE)));
    for (int i = 0; i < WARM; i++) {
      call.at((i % 100) * 64L);
    }
    truncate();
    for (int i = 0; i < STRUCK; i++) {
      long position = SIZE / 2 + (i % 100) * 64L & -8;
      assertThatThrownBy(() -> call.at(position))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(file().toString())
          .message()
          .contains(Long.toString(SIZE))
          .containsAnyOf("Fault in the mapping of", " was opened with ");
    }
    byte[] left = load(0, 64);
    assertThat(left).as("what is left").isEqualTo(Arrays.copyOf(Files.readAllBytes(file()), 64));
  }

  final void truncate() throws IOException {
    try (FileChannel channel = FileChannel.open(file(), StandardOpenOption.WRITE)) {
      FileChannel unused = channel.truncate(SIZE / 3 & -4096);
    }
  }

  private void grow() throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(file().toFile(), "rw")) {
      file.setLength(SIZE);
    }
  }

  final Path file() {
    return directory().resolve("pool");
  }

  static byte[] ones(int length) {
    byte[] ones = new byte[length];
    Arrays.fill(ones, (byte) -1);
    return ones;
  }
}
