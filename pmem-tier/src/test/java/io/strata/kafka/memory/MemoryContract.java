package io.strata.kafka.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ReadOnlyBufferException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@link PersistentMemory} promises, held against every implementation. */
@Timeout(value = 600, unit = TimeUnit.SECONDS)
abstract class MemoryContract {
  /** Space for the largest store of these tests, and no round number. */
  static final int SIZE = (3 << 20) + 4096 + 40;

  private static final int WORKERS = 4;

  @TempDir Path scratch;

  private PersistentMemory memory;

  /** A new memory of zeros. */
  abstract PersistentMemory create(int size) throws IOException;

  abstract MemoryType expectedType();

  abstract Durability expectedDurability() throws IOException;

  @BeforeEach
  void createMemory() throws IOException {
    memory = create(SIZE);
  }

  @AfterEach
  void closeMemory() throws Exception {
    memory.close();
  }

  @Test
  void saysWhatItIs() throws IOException {
    assertThat(memory.type()).isEqualTo(expectedType());
    assertThat(memory.durability()).isEqualTo(expectedDurability());
    assertThat(memory.size()).isEqualTo(SIZE);
    assertThat(memory.writable()).isTrue();
  }

  @Test
  void isZerosAtFirst() throws IOException {
    assertThat(load(0, SIZE)).isEqualTo(new byte[SIZE]);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 5, 7, 8, 63, 64, 65, 4096, 16384, 16385, 163_840, 1 << 20, 3 << 20})
  void givesBackWhatWasStored(int length) throws IOException {
    for (boolean persisted : new boolean[] {false, true}) {
      for (boolean direct : new boolean[] {false, true}) {
        for (int position : new int[] {0, 1, 4095, 4096}) {
          byte[] bytes = random(length, position);
          ByteBuffer source = padded(bytes, direct);
          int start = source.position();
          if (persisted) {
            memory.storeAndPersist(position, source);
          } else {
            memory.store(position, source);
          }
          assertThat(source.position()).isEqualTo(start + length);
          assertThat(source.hasRemaining()).isFalse();

          ByteBuffer target = padded(new byte[length], direct);
          memory.load(position, target);
          assertThat(target.hasRemaining()).isFalse();
          assertThat(bytes(target.flip().position(start))).isEqualTo(bytes);
          assertThat(target.get(0)).as("byte before the target's position").isEqualTo((byte) 99);
        }
      }
    }
  }

  @Test
  void storesNothingBesideTheRange() throws IOException {
    byte[] model = random(SIZE, 1);
    memory.store(0, ByteBuffer.wrap(model));
    byte[] piece = random(1000, 2);
    memory.storeAndPersist(4097, ByteBuffer.wrap(piece));
    System.arraycopy(piece, 0, model, 4097, 1000);
    memory.zero(10_001, 333);
    Arrays.fill(model, 10_001, 10_334, (byte) 0);
    memory.storeLong(20_000, 1);
    ByteBuffer.wrap(model).order(ByteOrder.LITTLE_ENDIAN).putLong(20_000, 1);
    assertThat(load(0, SIZE)).isEqualTo(model);
  }

  @Test
  void takesAReadOnlySource() throws IOException {
    byte[] bytes = random(40_000, 3);
    memory.store(8, ByteBuffer.wrap(bytes).asReadOnlyBuffer());
    assertThat(load(8, 40_000)).isEqualTo(bytes);
    memory.storeAndPersist(50_000, ByteBuffer.wrap(bytes).asReadOnlyBuffer());
    assertThat(load(50_000, 40_000)).isEqualTo(bytes);
  }

  @Test
  void leavesTheByteOrderOfBuffersAlone() throws IOException {
    ByteBuffer source = ByteBuffer.wrap(random(64, 4)).order(ByteOrder.BIG_ENDIAN);
    memory.store(0, source);
    assertThat(source.order()).isEqualTo(ByteOrder.BIG_ENDIAN);
    assertThat(load(0, 64)).isEqualTo(source.array());
  }

  @Test
  void storesWordsLittleEndian() throws IOException {
    memory.storeLong(16, 0x0807060504030201L);
    assertThat(load(16, 8)).containsExactly(1, 2, 3, 4, 5, 6, 7, 8);
    assertThat(memory.loadLong(16)).isEqualTo(0x0807060504030201L);
    memory.storeLong(SIZE - 8, Long.MIN_VALUE);
    assertThat(memory.loadLong(SIZE - 8)).isEqualTo(Long.MIN_VALUE);
  }

  @Test
  void zeroes() throws IOException {
    memory.store(0, ByteBuffer.wrap(random(SIZE, 5)));
    memory.zero(0, SIZE);
    assertThat(load(0, SIZE)).isEqualTo(new byte[SIZE]);
    memory.zero(SIZE, 0);
  }

  @Test
  void zeroesRangesByTheFileSystem() throws IOException {
    byte[] model = random(SIZE, 7);
    memory.store(0, ByteBuffer.wrap(model));
    for (int[] range : new int[][] {{4096, 65_536}, {100_001, 3}, {77_777, 12_345}, {0, 1}}) {
      memory.zeroRange(range[0], range[1]);
      Arrays.fill(model, range[0], range[0] + range[1], (byte) 0);
      assertThat(load(0, SIZE)).isEqualTo(model);
    }
    memory.zeroRange(SIZE, 0);
    memory.storeLong(8192, -1);
    memory.force(0, SIZE);
    ByteBuffer.wrap(model).putLong(8192, -1);
    assertThat(load(0, SIZE)).isEqualTo(model);
    memory.zeroRange(0, SIZE);
    assertThat(load(0, SIZE)).isEqualTo(new byte[SIZE]);
  }

  @Test
  void persistAndForceChangeNoByte() throws IOException {
    byte[] bytes = random(SIZE, 6);
    memory.store(0, ByteBuffer.wrap(bytes));
    memory.persist(0, SIZE);
    memory.persist(4097, 1);
    memory.persist(SIZE, 0);
    memory.force(0, SIZE);
    memory.force(4097, 1);
    memory.force(SIZE, 0);
    assertThat(load(0, SIZE)).isEqualTo(bytes);
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, SIZE - 15, SIZE, SIZE + 1L, Long.MAX_VALUE, Long.MIN_VALUE})
  void refusesRangesOutside(long position) {
    ByteBuffer buffer = ByteBuffer.allocate(16);
    for (ThrowingCallable call :
        List.<ThrowingCallable>of(
            () -> memory.load(position, buffer),
            () -> memory.store(position, buffer),
            () -> memory.storeAndPersist(position, buffer),
            () -> memory.zero(position, 16),
            () -> memory.zeroRange(position, 16),
            () -> memory.persist(position, 16),
            () -> memory.force(position, 16),
            () -> memory.transferTo(position, 16, nowhere()))) {
      assertThatThrownBy(call).isInstanceOf(IndexOutOfBoundsException.class);
    }
    assertThat(buffer.position()).isZero();
  }

  @Test
  void refusesNegativeLengths() {
    for (ThrowingCallable call :
        List.<ThrowingCallable>of(
            () -> memory.zero(8, -1),
            () -> memory.zeroRange(8, -1),
            () -> memory.persist(8, -1),
            () -> memory.force(8, -1),
            () -> memory.transferTo(8, -1, nowhere()))) {
      assertThatThrownBy(call).isInstanceOf(IndexOutOfBoundsException.class);
    }
  }

  @Test
  void refusesWordsOutsideOrOutOfLine() {
    for (long position : new long[] {-8, SIZE - 7, SIZE, Long.MAX_VALUE - 7}) {
      assertThatThrownBy(() -> memory.loadLong(position))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> memory.storeLong(position, 1))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
    assertThatThrownBy(() -> memory.loadLong(12))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("12");
    assertThatThrownBy(() -> memory.storeLong(12, 1)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void leavesAReadOnlyTargetAsItIs() {
    ByteBuffer target = ByteBuffer.allocate(16).position(3).asReadOnlyBuffer();
    assertThatThrownBy(() -> memory.load(0, target))
        .isInstanceOfAny(ReadOnlyBufferException.class, IllegalArgumentException.class);
    assertThat(target.position()).isEqualTo(3);
  }

  @Test
  void doesNothingAfterClose() throws Exception {
    memory.close();
    memory.close();
    ByteBuffer buffer = ByteBuffer.allocate(16);
    for (ThrowingCallable call :
        List.<ThrowingCallable>of(
            () -> memory.load(0, buffer),
            () -> memory.loadLong(0),
            () -> memory.store(0, buffer),
            () -> memory.storeAndPersist(0, buffer),
            () -> memory.storeLong(0, 1),
            () -> memory.zero(0, 16),
            () -> memory.persist(0, 16),
            () -> memory.force(0, 16),
            () -> memory.transferTo(0, 16, nowhere()))) {
      assertThatThrownBy(call).isInstanceOf(ClosedChannelException.class);
    }
    assertThat(buffer.position()).isZero();
  }

  @Test
  void anInterruptStaysPendingAndClosesNothing() throws IOException {
    byte[] bytes = random(200_000, 7);
    try {
      Thread.currentThread().interrupt();
      memory.storeAndPersist(0, ByteBuffer.wrap(bytes));
      memory.store(0, ByteBuffer.wrap(bytes));
      memory.storeLong(200_000, 1);
      memory.persist(0, 16);
      memory.force(0, 200_000);
      assertThat(memory.loadLong(200_000)).isEqualTo(1);
      assertThat(load(0, 200_000)).isEqualTo(bytes);
      ByteArrayOutputStream taken = new ByteArrayOutputStream();
      assertThat(memory.transferTo(0, 16, plain(taken))).isEqualTo(16);
      assertThat(Thread.currentThread().isInterrupted()).isTrue();
    } finally {
      Thread.interrupted();
    }
    assertThat(load(0, 200_000)).isEqualTo(bytes);
  }

  @Test
  void interruptsThatStrikeDuringCallsHarmNobody() throws Exception {
    int length = 1 << 20;
    byte[] bytes = random(length, 8);
    AtomicBoolean over = new AtomicBoolean();
    Callable<Integer> work =
        () -> {
          int rounds = 0;
          while (!over.get() || rounds < 20) {
            memory.store(0, ByteBuffer.wrap(bytes));
            memory.force(0, 4096);
            assertThat(load(0, length)).isEqualTo(bytes);
            rounds++;
          }
          Thread.interrupted();
          return rounds;
        };
    List<Thread> threads = new ArrayList<>();
    ExecutorService pool =
        Executors.newFixedThreadPool(
            WORKERS,
            task -> {
              Thread thread = new Thread(task, "worker");
              threads.add(thread);
              return thread;
            });
    try {
      List<Future<Integer>> results = new ArrayList<>();
      for (int i = 0; i < WORKERS; i++) {
        results.add(pool.submit(work));
      }
      Random random = new Random(9);
      for (int i = 0; i < 300; i++) {
        threads.get(random.nextInt(WORKERS)).interrupt();
        TimeUnit.MICROSECONDS.sleep(random.nextInt(1500));
      }
      over.set(true);
      for (Future<Integer> result : results) {
        assertThat(result.get()).isPositive();
      }
    } finally {
      over.set(true);
      pool.shutdown();
    }
    assertThat(load(0, length)).isEqualTo(bytes);
  }

  @Test
  void disjointStoresByManyThreadsAllArrive() throws Exception {
    int stride = 1021; // no multiple of a line: neighbours share lines
    int rounds = 200;
    byte[] model = new byte[SIZE];
    List<Callable<Void>> workers = new ArrayList<>();
    for (int w = 0; w < WORKERS; w++) {
      int worker = w;
      for (int i = worker; i < rounds * WORKERS; i += WORKERS) {
        System.arraycopy(random(stride, i), 0, model, i * stride, stride);
      }
      workers.add(
          () -> {
            for (int i = worker; i < rounds * WORKERS; i += WORKERS) {
              ByteBuffer source = ByteBuffer.wrap(random(stride, i));
              if (i % 3 == 0) {
                memory.store((long) i * stride, source);
              } else {
                memory.storeAndPersist((long) i * stride, source);
              }
            }
            return null;
          });
    }
    runAll(workers);
    assertThat(load(0, SIZE)).isEqualTo(model);
  }

  @Test
  void aWordIsNeverSeenTornAndPublishesWhatWasStoredBefore() throws Exception {
    int rounds = 20_000;
    AtomicBoolean over = new AtomicBoolean();
    CountDownLatch readersRun = new CountDownLatch(2);
    Callable<Void> writer =
        () -> {
          readersRun.await();
          ByteBuffer payload = ByteBuffer.allocate(64);
          for (long i = 1; i <= rounds; i++) {
            payload.clear();
            payload.putLong(56, i);
            memory.store(1024, payload);
            memory.storeLong(2048, i * 0x0001_0001_0001_0001L);
          }
          over.set(true);
          return null;
        };
    Callable<Void> reader =
        () -> {
          readersRun.countDown();
          ByteBuffer payload = ByteBuffer.allocate(8);
          while (!over.get()) {
            long word = memory.loadLong(2048);
            long round = word & 0xFFFF;
            assertThat(word).isEqualTo(round * 0x0001_0001_0001_0001L);
            memory.load(1024 + 56, payload.clear());
            assertThat(payload.getLong(0)).isGreaterThanOrEqualTo(round);
          }
          return null;
        };
    runAll(List.of(writer, reader, reader));
  }

  @Test
  void transfersToAnyChannel() throws IOException {
    byte[] bytes = random(300_000, 10);
    memory.store(77, ByteBuffer.wrap(bytes));
    ByteArrayOutputStream taken = new ByteArrayOutputStream();
    transferAll(77, bytes.length, plain(taken));
    assertThat(taken.toByteArray()).isEqualTo(bytes);
    assertThat(memory.transferTo(77, 0, plain(taken))).isZero();
  }

  @Test
  void transfersToAFile() throws IOException {
    byte[] bytes = random(2 << 20, 11);
    memory.store(4096, ByteBuffer.wrap(bytes));
    Path file = scratch.resolve("target");
    try (FileChannel target =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      transferAll(4096, bytes.length, target);
      ByteBuffer copy = ByteBuffer.allocate(bytes.length);
      while (copy.hasRemaining() && target.read(copy, copy.position()) > 0) {
        assertThat(target.isOpen()).isTrue();
      }
      assertThat(copy.array()).isEqualTo(bytes);
      assertThat(target.position()).isEqualTo(bytes.length);
    }
  }

  @Test
  void transfersToASocketInBoundedAttempts() throws Exception {
    byte[] bytes = random(3 << 20, 12);
    memory.store(0, ByteBuffer.wrap(bytes));
    try (ServerSocketChannel server = ServerSocketChannel.open()) {
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      try (SocketChannel target = SocketChannel.open(server.getLocalAddress());
          SocketChannel peer = server.accept()) {
        target.configureBlocking(false);
        long sent = 0;
        while (sent < bytes.length) { // until the socket takes no more
          long taken = memory.transferTo(sent, bytes.length - sent, target);
          if (taken == 0) {
            break;
          }
          sent += taken;
        }
        ByteBuffer received = ByteBuffer.allocate(bytes.length);
        peer.configureBlocking(false);
        while (received.hasRemaining()) {
          assertThat(peer.read(received)).isNotNegative();
          if (sent < bytes.length) {
            sent += memory.transferTo(sent, bytes.length - sent, target);
          }
        }
        assertThat(received.array()).isEqualTo(bytes);
        assertThat(sent).isEqualTo(bytes.length);
      }
    }
  }

  /** A pool stores another segment's bytes where those were that a slow reader still waits for. */
  @Test
  void aStoreDoesNotChangeWhatASocketHasTaken() throws Exception {
    byte[] bytes = random(SIZE, 13);
    memory.store(0, ByteBuffer.wrap(bytes));
    try (ServerSocketChannel server = ServerSocketChannel.open()) {
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      try (SocketChannel target = SocketChannel.open();
          SocketChannel peer = acceptWithALargeSendBuffer(server, target)) {
        target.configureBlocking(false);
        int sent = 0;
        for (long taken = -1; taken != 0 && sent < SIZE; sent += (int) taken) {
          taken = memory.transferTo(sent, SIZE - sent, target);
        }
        memory.zero(0, SIZE);
        ByteBuffer received = ByteBuffer.allocate(sent);
        while (received.hasRemaining()) {
          assertThat(peer.read(received)).isPositive();
        }
        assertThat(Arrays.mismatch(received.array(), Arrays.copyOf(bytes, sent)))
            .as("first byte of %d that is not what the memory held when it was sent", sent)
            .isEqualTo(-1);
      }
    }
  }

  /** More goes out than the peer's window takes, so that some stays in the sender's buffer. */
  private static SocketChannel acceptWithALargeSendBuffer(
      ServerSocketChannel server, SocketChannel target) throws IOException {
    server.setOption(StandardSocketOptions.SO_RCVBUF, 64 << 10);
    target.setOption(StandardSocketOptions.SO_SNDBUF, 1 << 20);
    assertThat(target.connect(server.getLocalAddress())).isTrue();
    return server.accept();
  }

  @Test
  void aClosedTargetIsAnErrorOfTheTargetAlone() throws IOException {
    try (ServerSocketChannel server = ServerSocketChannel.open()) {
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      SocketChannel target = SocketChannel.open(server.getLocalAddress());
      target.close();
      assertThatThrownBy(() -> memory.transferTo(0, 100, target))
          .isInstanceOf(ClosedChannelException.class);
    }
    memory.storeLong(0, 5);
    assertThat(memory.loadLong(0)).isEqualTo(5);
  }

  @Test
  void agreesWithAModelOverRandomOperations() throws IOException {
    long seed = 20_260_101;
    Random random = new Random(seed);
    byte[] model = new byte[SIZE];
    ByteBuffer words = ByteBuffer.wrap(model).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < 2000; i++) {
      int position = random.nextInt(SIZE - 8);
      int length = random.nextInt(Math.min(SIZE - position, 20_000));
      switch (random.nextInt(6)) {
        case 0 -> {
          byte[] bytes = random(length, i);
          memory.store(position, ByteBuffer.wrap(bytes));
          System.arraycopy(bytes, 0, model, position, length);
        }
        case 1 -> {
          byte[] bytes = random(length, i);
          memory.storeAndPersist(position, ByteBuffer.wrap(bytes));
          System.arraycopy(bytes, 0, model, position, length);
        }
        case 2 -> {
          long value = random.nextLong();
          memory.storeLong(position & -8, value);
          words.putLong(position & -8, value);
        }
        case 3 -> {
          memory.zero(position, length);
          Arrays.fill(model, position, position + length, (byte) 0);
        }
        case 4 -> memory.persist(position, length);
        default ->
            assertThat(load(position, length))
                .as("seed %d, operation %d", seed, i)
                .isEqualTo(Arrays.copyOfRange(model, position, position + length));
      }
    }
    assertThat(load(0, SIZE)).as("seed %d", seed).isEqualTo(model);
  }

  final PersistentMemory memory() {
    return memory;
  }

  final byte[] load(long position, int length) throws IOException {
    return load(memory, position, length);
  }

  static byte[] load(PersistentMemory memory, long position, int length) throws IOException {
    ByteBuffer target = ByteBuffer.allocate(length);
    memory.load(position, target);
    return target.array();
  }

  static byte[] random(int length, long seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private void transferAll(long position, long count, WritableByteChannel target)
      throws IOException {
    long sent = 0;
    while (sent < count) {
      long taken = memory.transferTo(position + sent, count - sent, target);
      assertThat(taken).isPositive();
      sent += taken;
    }
  }

  private static void runAll(List<Callable<Void>> workers) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(workers.size());
    try {
      for (Future<Void> result : pool.invokeAll(workers, 50, TimeUnit.SECONDS)) {
        Void unused = result.get();
      }
    } finally {
      pool.shutdownNow();
    }
  }

  /** The bytes in a buffer that has others before and after them. */
  private static ByteBuffer padded(byte[] bytes, boolean direct) {
    int before = 3;
    int after = 5;
    int capacity = before + bytes.length + after;
    ByteBuffer buffer =
        direct ? ByteBuffer.allocateDirect(capacity) : ByteBuffer.allocate(capacity);
    buffer.put(0, (byte) 99);
    return buffer.position(before).put(bytes).flip().position(before);
  }

  private static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return bytes;
  }

  private static WritableByteChannel nowhere() {
    return plain(new ByteArrayOutputStream());
  }

  private static WritableByteChannel plain(ByteArrayOutputStream target) {
    return new WritableByteChannel() {
      @Override
      public int write(ByteBuffer source) {
        byte[] bytes = bytes(source);
        target.write(bytes, 0, bytes.length);
        return bytes.length;
      }

      @Override
      public boolean isOpen() {
        return true;
      }

      @Override
      public void close() {}
    };
  }
}
