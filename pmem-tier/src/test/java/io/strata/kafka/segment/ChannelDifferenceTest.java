package io.strata.kafka.segment;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.segment.view.SegmentTag;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random operations on our channel and on the JDK's, over a plain file: same results, same
 * exceptions, same bytes. The pool is so tiny that the segment spills and shrinks all the time, and
 * its extents come with the bytes of the segments before it; parts of it are evicted.
 *
 * <p>More seeds by {@code -Dstrata.test.seeds=}.
 */
final class ChannelDifferenceTest {

  private static final int SEEDS = Integer.getInteger("strata.test.seeds", 150);
  private static final int OPERATIONS = 200;
  private static final int LONGEST = 100_000;

  @TempDir(factory = MemoryBackedDirectory.class)
  Path directory;

  private int spills;
  private int evictions;
  private int unspilled;
  private int fromPool;
  private int operations;

  @Test
  void agreesWithThePlainFile() throws Exception {
    try (TinyPool pool = TinyPool.create(directory.resolve("pool"), MemoryType.MAPPED)) {
      for (long seed = 0; seed < SEEDS; seed++) {
        try (Run run = new Run(pool, seed)) {
          run.all();
        } catch (AssertionError | RuntimeException | IOException e) {
          throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
        }
      }
      pool.leaveFree(32);
      assertThat(pool.pool().usage().freeBytes()).as("all extents came back").isEqualTo(2L << 20);
    }
    assertThat(operations).isGreaterThan(SEEDS * OPERATIONS / 2);
    assertThat(spills).as("spills").isGreaterThan(SEEDS / 4);
    assertThat(evictions).as("evicted parts").isGreaterThan(SEEDS);
    assertThat(unspilled).as("unspilled").isGreaterThan(SEEDS);
    assertThat(fromPool).as("steps with bytes in the pool").isGreaterThan(operations / 4);
  }

  /** One operation, run on each side with the same random numbers. */
  private interface Operation {
    @Nullable Object on(FileChannel channel, Random random) throws IOException;
  }

  /** What an operation did. */
  private record Outcome(@Nullable Object result, @Nullable Class<?> thrown, boolean open) {}

  private final class Run implements AutoCloseable, SegmentEvents {

    private final TinyPool pool;
    private final Random random;
    private final Path plain;
    private final Path logFile;
    private final List<FileChannel> expected = new ArrayList<>();
    private final List<FileChannel> found = new ArrayList<>();
    private Segment segment;

    Run(TinyPool pool, long seed) throws IOException {
      this.pool = pool;
      this.random = new Random(seed);
      this.plain = Files.createFile(directory.resolve("plain" + seed));
      this.logFile = Files.createFile(directory.resolve("log" + seed));
      pool.leaveFree(random.nextInt(6));
      segment = segment(pool.allocate("segment" + seed), 0);
    }

    private Segment segment(Slot slot, long logFileSize) {
      return new Segment(slot, pool.pool(), logFileSize, SegmentSettings.defaults(), this);
    }

    @Override
    public void spilled(long bytes, boolean first) {
      spills += first ? 1 : 0;
    }

    void all() throws IOException {
      for (int i = 0; i < OPERATIONS; i++) {
        try {
          step();
          fromPool += segment.bytesInPool() > 0 ? 1 : 0;
        } catch (AssertionError e) {
          throw new AssertionError("operation " + i + ": " + e.getMessage(), e);
        }
      }
      reopenPool();
      assertThat(readHot()).as("after all").isEqualTo(Files.readAllBytes(plain));
      try (FileChannel channel =
          FileChannel.open(logFile, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        segment.copyToLogFileAsItIs(channel);
      }
      assertThat(Files.readAllBytes(logFile)).as("copied").isEqualTo(Files.readAllBytes(plain));
    }

    private byte[] readHot() throws IOException {
      try (FileChannel channel = openHot(Set.of(StandardOpenOption.READ))) {
        return Channels.newInputStream(channel).readAllBytes();
      }
    }

    private FileChannel openHot(Set<OpenOption> options) throws IOException {
      boolean write = options.stream().anyMatch(o -> o != StandardOpenOption.READ);
      FileChannel jdk =
          write
              ? FileChannel.open(logFile, StandardOpenOption.READ, StandardOpenOption.WRITE)
              : FileChannel.open(logFile, StandardOpenOption.READ);
      return segment.open(jdk, options);
    }

    private void reopenPool() throws IOException {
      closeAll();
      Optional<SegmentTag> before = segment.residence().map(Residence::tag);
      pool.reopen();
      Optional<Slot> slot = before.flatMap(tag -> pool.pool().slot(tag.slot(), tag.generation()));
      segment = segment(slot.orElseThrow(), Files.size(logFile));
      assertThat(segment.size()).isEqualTo(Files.size(plain));
    }

    private void closeAll() throws IOException {
      for (FileChannel channel : expected) {
        channel.close();
      }
      for (FileChannel channel : found) {
        channel.close();
      }
      expected.clear();
      found.clear();
    }

    private void step() throws IOException {
      int dice = random.nextInt(1000);
      if (dice < 5) {
        reopenPool();
      } else if (dice < 25) {
        pool.leaveFree(random.nextInt(6));
      } else if (dice >= 940) {
        evictPart();
      } else if (expected.isEmpty() || (dice < 50 && expected.size() < 4)) {
        open();
      } else {
        onChannel(random.nextInt(expected.size()), random.nextInt(200) == 0);
      }
    }

    private void evictPart() throws IOException {
      try (FileChannel channel =
          FileChannel.open(logFile, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        boolean unused = segment.markClean(segment.copyToLogFileAsItIs(channel));
      }
      evictions += segment.evictPart(random.nextBoolean()) > 0 ? 1 : 0;
      if (segment.spilled()) {
        pool.leaveFree(random.nextInt(6));
        try (FileChannel channel =
            FileChannel.open(logFile, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
          unspilled += segment.unspill(channel, () -> channel.force(true)) ? 1 : 0;
        }
      }
    }

    private void open() throws IOException {
      Set<OpenOption> options =
          switch (random.nextInt(12)) {
            case 0 -> Set.of(StandardOpenOption.READ);
            case 1 -> Set.of(StandardOpenOption.WRITE);
            case 2 -> Set.of(StandardOpenOption.APPEND);
            case 3 -> Set.of(StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING);
            case 4 ->
                Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.DSYNC);
            default -> Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);
          };
      expected.add(FileChannel.open(plain, options));
      found.add(openHot(options));
    }

    private void onChannel(int i, boolean interrupted) throws IOException {
      Operation operation = operation();
      long seed = random.nextLong();
      Outcome wanted = outcome(operation, expected.get(i), new Random(seed), interrupted);
      Outcome got = outcome(operation, found.get(i), new Random(seed), interrupted);
      operations++;
      boolean same =
          equal(wanted.result(), got.result())
              && Objects.equals(wanted.thrown(), got.thrown())
              && wanted.open() == got.open();
      if (!same) {
        throw new AssertionError("expected " + wanted + ", found " + got);
      }
      assertThat(segment.size()).as("size").isEqualTo(Files.size(plain));
      if (!wanted.open() || random.nextInt(100) == 0) {
        expected.remove(i).close();
        found.remove(i).close();
      }
    }

    private static boolean equal(@Nullable Object a, @Nullable Object b) {
      return (a instanceof byte[] x && b instanceof byte[] y)
          ? Arrays.equals(x, y)
          : Objects.equals(a, b);
    }

    private Outcome outcome(
        Operation operation, FileChannel channel, Random numbers, boolean interrupted) {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      try {
        Object result = operation.on(channel, numbers);
        return new Outcome(result == channel ? "this" : result, null, channel.isOpen());
      } catch (IOException | RuntimeException e) {
        return new Outcome(null, e.getClass(), channel.isOpen());
      } finally {
        assertThat(Thread.interrupted()).isEqualTo(interrupted);
      }
    }

    private Operation operation() throws IOException {
      long size = Files.size(plain);
      return switch (random.nextInt(20)) {
        case 0, 1, 2 -> (channel, numbers) -> channel.write(bytes(numbers));
        case 3, 4, 5, 6 -> (channel, numbers) -> channel.write(bytes(numbers), size);
        case 7 -> (channel, numbers) -> channel.write(bytes(numbers), offset(numbers, size));
        case 8 ->
            (channel, numbers) -> {
              ByteBuffer[] sources = {bytes(numbers), bytes(numbers), bytes(numbers)};
              return channel.write(sources, numbers.nextInt(2), 1 + numbers.nextInt(2));
            };
        case 9 -> (channel, numbers) -> read(buffer(numbers), channel::read);
        case 10, 11, 12 ->
            (channel, numbers) -> {
              long at = offset(numbers, size);
              return read(buffer(numbers), target -> channel.read(target, at));
            };
        case 13 ->
            (channel, numbers) -> {
              ByteBuffer[] targets = {buffer(numbers), buffer(numbers)};
              return List.of(channel.read(targets), contentOf(targets[0]), contentOf(targets[1]));
            };
        case 14 -> (channel, numbers) -> channel.position(offset(numbers, size));
        case 15 -> (channel, numbers) -> List.of(channel.position(), channel.size());
        case 16 -> (channel, numbers) -> channel.truncate(offset(numbers, size));
        case 17 ->
            (channel, numbers) -> {
              channel.force(numbers.nextBoolean());
              return "forced";
            };
        case 18 -> (channel, numbers) -> transferTo(channel, numbers, size);
        default ->
            (channel, numbers) -> {
              byte[] source = new byte[numbers.nextInt(LONGEST)];
              numbers.nextBytes(source);
              // A position beyond the end does nothing on JDK 17, and grows the file on later ones.
              long at = (long) (numbers.nextDouble() * (size + 1));
              return channel.transferFrom(
                  Channels.newChannel(new ByteArrayInputStream(source)),
                  at,
                  numbers.nextInt(LONGEST));
            };
      };
    }

    private static byte[] transferTo(FileChannel channel, Random numbers, long size)
        throws IOException {
      long at = offset(numbers, size);
      long count = numbers.nextInt(2 * LONGEST);
      ByteArrayOutputStream collected = new ByteArrayOutputStream();
      long moved;
      do {
        moved = channel.transferTo(at, count, Channels.newChannel(collected));
        at += moved;
        count -= moved;
      } while (moved > 0 && count > 0);
      return collected.toByteArray();
    }

    private interface Reading {
      int into(ByteBuffer target) throws IOException;
    }

    private static Object read(ByteBuffer target, Reading reading) throws IOException {
      int read = reading.into(target);
      return List.of(read, contentOf(target));
    }

    private static List<Object> contentOf(ByteBuffer target) {
      byte[] content = new byte[target.position()];
      target.duplicate().flip().get(content);
      return List.of(target.position(), target.limit(), Arrays.hashCode(content));
    }

    /** Mostly within the file and near its ends; sometimes beyond, and once in a while negative. */
    private static long offset(Random numbers, long size) {
      return switch (numbers.nextInt(12)) {
        case 0 -> 0;
        case 1 -> size;
        case 2 -> size + numbers.nextInt(BEYOND);
        case 3 -> numbers.nextInt(4) == 0 ? size + numbers.nextInt(3 << 20) : size;
        case 4 -> numbers.nextInt(4) == 0 ? -1 : Math.max(0, size - 1);
        case 5 -> Math.min(size, (long) numbers.nextInt(8) * TinyPool.BLOCK);
        default -> (long) (numbers.nextDouble() * size);
      };
    }

    private static final int BEYOND = 150_000;

    private static ByteBuffer bytes(Random numbers) {
      int length = numbers.nextInt(8) == 0 ? numbers.nextInt(2) : numbers.nextInt(LONGEST);
      byte[] content = new byte[length];
      numbers.nextBytes(content);
      return ByteBuffer.wrap(content);
    }

    private static ByteBuffer buffer(Random numbers) {
      int length = numbers.nextInt(20) == 0 ? 0 : numbers.nextInt(2 * LONGEST);
      ByteBuffer buffer =
          numbers.nextBoolean() ? ByteBuffer.allocate(length) : ByteBuffer.allocateDirect(length);
      return numbers.nextInt(50) == 0 ? buffer.asReadOnlyBuffer() : buffer;
    }

    @Override
    public void close() throws IOException {
      closeAll();
      segment.markDeleting();
      Files.delete(logFile);
      segment.free();
      Files.delete(plain);
    }
  }
}
