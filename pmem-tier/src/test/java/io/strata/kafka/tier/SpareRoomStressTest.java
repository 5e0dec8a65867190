package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.migration.remote.read.ChunkArena;
import io.strata.kafka.migration.remote.read.ChunkArena.Frame;
import io.strata.kafka.migration.remote.read.ChunkKey;
import io.strata.kafka.pool.PoolChecker;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Segments come and go and take all the room again and again, while chunks are stored, read and
 * released: nobody ever sees another's bytes.
 */
class SpareRoomStressTest {

  private static final long MIB = 1 << 20;
  private static final Duration TIME =
      Duration.ofSeconds(Integer.getInteger("strata.stress.seconds", 6));
  private static final int CHUNK = 150_000;

  @TempDir private Path temp;

  private final Map<Integer, Frame> shelf = new ConcurrentHashMap<>();
  private final AtomicInteger numbers = new AtomicInteger();
  private final AtomicLong stored = new AtomicLong();
  private final AtomicLong wholeReads = new AtomicLong();
  private final AtomicLong takenAway = new AtomicLong();
  private final AtomicLong pressed = new AtomicLong();

  @Test
  @Timeout(120)
  void nobodySeesAnothersBytes() throws Exception {
    long seed = System.nanoTime();
    try (TierFixture fixture = new TierFixture(temp).pool("strata.pool", 24 * MIB)) {
      HotTier tier = fixture.open();
      long end = System.nanoTime() + TIME.toNanos();
      try (ChunkArena arena = tier.spareRoom(100 * MIB, CHUNK).orElseThrow()) {
        List<Callable<Void>> parts = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
          Random random = new Random(seed + i);
          parts.add(() -> storeChunks(arena, random, end));
        }
        for (int i = 0; i < 2; i++) {
          Random random = new Random(seed + 10 + i);
          parts.add(() -> readChunks(random, end));
        }
        for (int i = 0; i < 2; i++) {
          Random random = new Random(seed + 20 + i);
          int partition = i;
          parts.add(() -> press(fixture, partition, random, end));
        }
        run(parts, seed);
      }
      assertThat(stored.get()).as("stored with seed " + seed).isPositive();
      assertThat(wholeReads.get()).as("read with seed " + seed).isPositive();
      assertThat(takenAway.get()).as("taken away with seed " + seed).isPositive();
      assertThat(pressed.get()).as("segments with seed " + seed).isPositive();
      assertThat(PoolChecker.check(fixture.pools.get(0)).findings()).isEmpty();
    }
  }

  private static void run(List<Callable<Void>> parts, long seed) {
    ExecutorService threads = Executors.newFixedThreadPool(parts.size());
    try {
      for (Future<Void> part : threads.invokeAll(parts)) {
        part.get();
      }
    } catch (Exception e) {
      throw new AssertionError("seed " + seed, e);
    } finally {
      threads.shutdownNow();
    }
  }

  /** A chunk of which every word tells its number. */
  private static byte[] chunk(int number) {
    byte[] bytes = new byte[CHUNK - number % 5000 * 8];
    ByteBuffer words = ByteBuffer.wrap(bytes);
    for (int i = 0; i + 8 <= bytes.length; i += 8) {
      words.putInt(i, number).putInt(i + 4, i);
    }
    return bytes;
  }

  private Void storeChunks(ChunkArena arena, Random random, long end) {
    while (System.nanoTime() < end) {
      int number = numbers.incrementAndGet();
      Optional<Frame> frame =
          arena.store(new ChunkKey(1, 2, number), ByteBuffer.wrap(chunk(number)));
      frame.ifPresent(f -> shelf.put(number, f));
      stored.addAndGet(frame.isPresent() ? 1 : 0);
      if (frame.isEmpty() || random.nextInt(3) == 0) {
        List<Integer> all = new ArrayList<>(shelf.keySet());
        if (!all.isEmpty()) {
          Optional.ofNullable(shelf.remove(all.get(random.nextInt(all.size()))))
              .ifPresent(Frame::release);
        }
      }
    }
    return null;
  }

  private Void readChunks(Random random, long end) {
    while (System.nanoTime() < end) {
      for (Map.Entry<Integer, Frame> entry : Map.copyOf(shelf).entrySet()) {
        Frame frame = entry.getValue();
        byte[] expected = chunk(entry.getKey());
        int offset = random.nextInt(frame.bytes());
        ByteBuffer target = ByteBuffer.allocate(random.nextInt(frame.bytes() - offset) + 1);
        if (frame.read(offset, target)) {
          wholeReads.incrementAndGet();
          assertThat(
                  Arrays.equals(
                      target.array(),
                      0,
                      target.capacity(),
                      expected,
                      offset,
                      offset + target.capacity()))
              .as("chunk " + entry.getKey())
              .isTrue();
        } else {
          assertThat(target.position()).isZero();
          assertThat(frame.gone()).isTrue();
          takenAway.incrementAndGet();
          shelf.remove(entry.getKey(), frame);
        }
      }
    }
    return null;
  }

  /** Segments that take much of the pool, are read back, and are deleted. */
  private Void press(TierFixture fixture, int partition, Random random, long end) throws Exception {
    List<Path> files = new ArrayList<>();
    List<byte[]> contents = new ArrayList<>();
    for (long offset = 0; System.nanoTime() < end; offset++) {
      Path file = fixture.segment("press-" + partition, offset);
      byte[] bytes = new byte[500_000 + random.nextInt(4_000_000)];
      random.nextBytes(bytes);
      try (FileChannel channel = fixture.tier().open(file, TierFixture.KAFKA).orElseThrow()) {
        ByteBuffer source = ByteBuffer.wrap(bytes);
        while (source.hasRemaining()) {
          source.limit(Math.min(bytes.length, source.position() + 100_000));
          int unused = channel.write(source);
          source.limit(bytes.length);
        }
      }
      pressed.incrementAndGet();
      files.add(file);
      contents.add(bytes);
      for (int i = 0; i < files.size(); i++) {
        assertThat(Arrays.equals(fixture.read(files.get(i)), contents.get(i)))
            .as(files.get(i) + " of " + names(files))
            .isTrue();
      }
      while (files.size() > random.nextInt(6)) {
        Path deleted = files.remove(0);
        if (!fixture.tier().delete(deleted)) {
          // It was born at home.
          Files.delete(deleted);
        }
        contents.remove(0);
      }
    }
    return null;
  }

  private static String names(List<Path> files) {
    return files.stream().map(String::valueOf).collect(Collectors.joining(", "));
  }
}
