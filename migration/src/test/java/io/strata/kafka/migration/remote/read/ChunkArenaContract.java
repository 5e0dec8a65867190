package io.strata.kafka.migration.remote.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What every arena keeps to. */
@Timeout(600)
public abstract class ChunkArenaContract {

  /** The largest chunk of these tests. */
  protected static final int FRAME_BYTES = 256 << 10;

  /** Space for so many of the largest. */
  protected static final int FRAMES = 8;

  private final List<ChunkArena> open = new ArrayList<>();

  /** A new, empty arena. */
  protected abstract ChunkArena newArena(long capacityBytes, int frameBytes);

  private ChunkArena arena() {
    ChunkArena arena = newArena((long) FRAMES * FRAME_BYTES, FRAME_BYTES);
    open.add(arena);
    return arena;
  }

  @AfterEach
  void closeArenas() {
    open.forEach(ChunkArena::close);
  }

  private static ChunkKey key(int number) {
    return new ChunkKey(0x1234_5678_9abc_def0L, -42, number);
  }

  /** Bytes that tell their number and place. */
  private static byte[] content(int number, int length) {
    byte[] bytes = new byte[length];
    new Random(number).nextBytes(bytes);
    return bytes;
  }

  private static byte[] read(ChunkArena.Frame frame, int offset, int length) {
    byte[] bytes = new byte[length];
    ByteBuffer target = ByteBuffer.wrap(bytes);
    assertThat(frame.read(offset, target)).isTrue();
    assertThat(target.position()).isEqualTo(length);
    return bytes;
  }

  @Test
  void isEmptyAtFirst() {
    ChunkArena arena = arena();
    assertThat(arena.usedBytes()).isZero();
    assertThat(arena.capacityBytes()).isBetween(1L, (long) FRAMES * FRAME_BYTES);
  }

  @Test
  void givesBackWhatWasStoredAnyPieceOfIt() {
    ChunkArena arena = arena();
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int length : new int[] {1, 100, 65_535, 65_536, 65_537, FRAME_BYTES - 1, FRAME_BYTES}) {
      byte[] bytes = content(length, length);
      ByteBuffer given = ByteBuffer.allocate(length + 7).position(3);
      given.put(3, bytes).limit(3 + length);
      ChunkArena.Frame frame = arena.store(key(length), given).orElseThrow();
      assertThat(given.position()).isEqualTo(3);
      assertThat(given.limit()).isEqualTo(3 + length);
      assertThat(frame.key()).isEqualTo(key(length));
      assertThat(frame.bytes()).isEqualTo(length);
      assertThat(frame.gone()).isFalse();
      for (int i = 0; i < 50; i++) {
        int offset = random.nextInt(length + 1);
        int count = random.nextInt(length - offset + 1);
        assertThat(read(frame, offset, count))
            .as("seed %d, %d bytes from %d of %d", seed, count, offset, length)
            .isEqualTo(java.util.Arrays.copyOfRange(bytes, offset, offset + count));
      }
      frame.release();
    }
  }

  @Test
  void readsIntoTheMiddleOfABufferOnAndOffTheHeap() {
    ChunkArena arena = arena();
    byte[] bytes = content(1, 1000);
    ChunkArena.Frame frame = arena.store(key(1), ByteBuffer.wrap(bytes)).orElseThrow();
    for (ByteBuffer target : List.of(ByteBuffer.allocate(600), ByteBuffer.allocateDirect(600))) {
      target.position(100).limit(500);
      assertThat(frame.read(200, target)).isTrue();
      assertThat(target.position()).isEqualTo(500);
      for (int i = 0; i < 600; i++) {
        assertThat(target.get(target.clear().position() + i))
            .isEqualTo(i >= 100 && i < 500 ? bytes[200 + i - 100] : 0);
      }
    }
  }

  @Test
  void storesFromOutsideTheHeap() {
    ChunkArena arena = arena();
    byte[] bytes = content(5, 70_000);
    ByteBuffer direct = ByteBuffer.allocateDirect(80_000).position(1000);
    direct.put(1000, bytes).limit(71_000);
    ChunkArena.Frame frame = arena.store(key(5), direct).orElseThrow();
    assertThat(read(frame, 0, 70_000)).isEqualTo(bytes);
  }

  @Test
  void readsNothingBeyondTheChunk() {
    ChunkArena arena = arena();
    ChunkArena.Frame frame = arena.store(key(1), ByteBuffer.allocate(1000)).orElseThrow();
    assertThatThrownBy(() -> frame.read(1, ByteBuffer.allocate(1000)))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> frame.read(-1, ByteBuffer.allocate(1)))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThat(frame.read(1000, ByteBuffer.allocate(0))).isTrue();
  }

  @Test
  void aReleasedFrameIsGone() {
    ChunkArena arena = arena();
    ChunkArena.Frame frame = arena.store(key(1), ByteBuffer.allocate(1000)).orElseThrow();
    frame.release();
    frame.release();
    assertThat(frame.gone()).isTrue();
    ByteBuffer target = ByteBuffer.allocate(10).position(2);
    assertThat(frame.read(0, target)).isFalse();
    assertThat(target.position()).isEqualTo(2);
    assertThat(arena.usedBytes()).isZero();
    assertThat(frame.key()).isEqualTo(key(1));
    assertThat(frame.bytes()).isEqualTo(1000);
  }

  @Test
  void holdsItsBoundAndGivesRoomAgain() {
    ChunkArena arena = arena();
    List<ChunkArena.Frame> frames = new ArrayList<>();
    for (int i = 0; i < 3 * FRAMES; i++) {
      arena.store(key(i), ByteBuffer.wrap(content(i, FRAME_BYTES))).ifPresent(frames::add);
      assertThat(arena.usedBytes()).isLessThanOrEqualTo(arena.capacityBytes());
    }
    assertThat(frames).isNotEmpty().hasSizeLessThanOrEqualTo(FRAMES);
    assertThat(arena.store(key(100), ByteBuffer.allocate(FRAME_BYTES))).isEmpty();
    for (int round = 0; round < 50; round++) {
      frames.remove(round % frames.size()).release();
      byte[] bytes = content(1000 + round, FRAME_BYTES);
      frames.add(arena.store(key(1000 + round), ByteBuffer.wrap(bytes)).orElseThrow());
    }
    for (ChunkArena.Frame frame : frames) {
      assertThat(read(frame, 0, FRAME_BYTES)).isEqualTo(content(frame.key().number(), FRAME_BYTES));
    }
  }

  /** A segment may have larger chunks than those that the arena was made for. */
  @Test
  void aChunkThatDoesNotFitIsNoFault() {
    ChunkArena arena = arena();
    assertThat(arena.store(key(1), ByteBuffer.allocate(FRAMES * FRAME_BYTES + 1))).isEmpty();
    byte[] bytes = content(2, 2 * FRAME_BYTES + 1);
    arena
        .store(key(2), ByteBuffer.wrap(bytes))
        .ifPresent(frame -> assertThat(read(frame, 0, bytes.length)).isEqualTo(bytes));
  }

  @Test
  void aClosedArenaHasNothing() {
    ChunkArena arena = arena();
    ChunkArena.Frame frame = arena.store(key(1), ByteBuffer.allocate(1000)).orElseThrow();
    arena.close();
    arena.close();
    assertThat(frame.gone()).isTrue();
    assertThat(frame.read(0, ByteBuffer.allocate(10))).isFalse();
    assertThat(arena.store(key(2), ByteBuffer.allocate(10))).isEmpty();
    frame.release();
  }

  /** No reader ever sees another chunk's bytes, whatever is released and stored meanwhile. */
  @Test
  void aReleasedFrameIsNotUsedAgainUnderAReader() throws Exception {
    ChunkArena arena = arena();
    int length = FRAME_BYTES;
    int slots = FRAMES / 2;
    ConcurrentMap<Integer, ChunkArena.Frame> shelves = new ConcurrentHashMap<>();
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(2);
    AtomicLong whole = new AtomicLong();
    List<Callable<Void>> parts = new ArrayList<>();
    parts.add(
        () -> {
          for (int n = 1; System.nanoTime() < end; n++) {
            ByteBuffer bytes = ByteBuffer.allocate(length);
            while (bytes.hasRemaining()) {
              bytes.putInt(n);
            }
            int shelf = n % slots;
            Optional.ofNullable(shelves.remove(shelf)).ifPresent(ChunkArena.Frame::release);
            arena.store(key(n), bytes.flip()).ifPresent(frame -> shelves.put(shelf, frame));
          }
          return null;
        });
    for (int reader = 0; reader < 2; reader++) {
      Random random = new Random(reader);
      parts.add(
          () -> {
            ByteBuffer target = ByteBuffer.allocate(length);
            while (System.nanoTime() < end) {
              Optional<ChunkArena.Frame> frame =
                  Optional.ofNullable(shelves.get(random.nextInt(slots)));
              target.clear();
              if (frame.isPresent() && frame.get().read(0, target)) {
                whole.incrementAndGet();
                target.flip();
                while (target.hasRemaining()) {
                  assertThat(target.getInt()).isEqualTo(frame.get().key().number());
                }
              }
            }
            return null;
          });
    }
    ExecutorService threads = Executors.newFixedThreadPool(parts.size());
    try {
      for (Iterator<Future<Void>> ends = threads.invokeAll(parts).iterator(); ends.hasNext(); ) {
        ends.next().get();
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(whole.get()).isPositive();
  }
}
