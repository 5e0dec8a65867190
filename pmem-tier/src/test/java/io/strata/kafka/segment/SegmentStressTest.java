package io.strata.kafka.segment;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Writers append, truncate, spill and delete in a pool that is too small for them, so that extents
 * go from one to the other all the time. Each byte is a function of its segment and its position:
 * whatever a reader gets beyond that is another segment's, or was never written.
 */
final class SegmentStressTest {

  private static final long MILLIS = Long.getLong("strata.test.stress.millis", 1500);
  private static final long LONGEST_MILLIS = 60_000;
  private static final int BLOCK = TinyPool.BLOCK;

  @TempDir(factory = MemoryBackedDirectory.class)
  Path directory;

  private final AtomicBoolean stop = new AtomicBoolean();
  private final AtomicLong reads = new AtomicLong();
  private final AtomicLong foreignReads = new AtomicLong();
  private final AtomicLong ends = new AtomicLong();
  private final AtomicLong spills = new AtomicLong();
  private final AtomicLong unspills = new AtomicLong();
  private final AtomicLong evictedBytes = new AtomicLong();

  /** One life of a segment: a channel to write, one to read, and what its bytes are. */
  private record Life(
      int mark, Segment segment, Path logFile, FileChannel reader, AtomicLong cuts) {
    byte at(long position) {
      return (byte) ((mark * 31L) ^ (position * 7L) ^ (position >> 12) ^ 0x55);
    }

    ByteBuffer bytes(long position, int length) {
      ByteBuffer bytes = ByteBuffer.allocate(length);
      for (int i = 0; i < length; i++) {
        bytes.put(at(position + i));
      }
      return bytes.flip();
    }

    /** Two more with each truncation, odd while it is under way. */
    long era() {
      return cuts.get();
    }

    /**
     * Whose bytes they are. When a file is cut while it is read, Linux may give zeros from the cut
     * to the end of its page; so the log file may too.
     *
     * @param era before the read
     */
    void check(long position, ByteBuffer read, long era) {
      boolean cut = (era & 1) == 1 || era != era();
      for (long p = position; read.hasRemaining(); p++) {
        byte found = read.get();
        if (found != at(p) && !(cut && found == 0)) {
          throw new AssertionError(
              "mark "
                  + mark
                  + " at "
                  + p
                  + ": found "
                  + found
                  + ", expected "
                  + at(p)
                  + ", size "
                  + segment.size()
                  + ", in pool "
                  + segment.bytesInPool());
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void readersSeeTheirSegmentOnly(long seed) throws Exception {
    Path file = directory.resolve("pool");
    int writers = 2;
    int readersEach = 2;
    ExecutorService threads = Executors.newFixedThreadPool(writers * (1 + readersEach));
    List<Future<?>> running = new ArrayList<>();
    try (TinyPool pool = TinyPool.create(file);
        PoolReader foreign = Pool.openReadOnly(file)) {
      pool.leaveFree(7);
      for (int w = 0; w < writers; w++) {
        Writer writer = new Writer(pool, w, new Random(seed * 100 + w));
        running.add(threads.submit(writer));
        for (int r = 0; r < readersEach; r++) {
          Random random = new Random(seed * 10_000 + w * 100L + r);
          boolean sameProcess = r != readersEach - 1;
          running.add(
              threads.submit(
                  sameProcess ? reader(writer, random) : foreignReader(writer, foreign, random)));
        }
      }
      long start = System.nanoTime();
      while (!enough((System.nanoTime() - start) / 1_000_000)
          && running.stream().noneMatch(Future::isDone)) {
        Thread.sleep(10);
      }
      stop.set(true);
      for (Future<?> one : running) {
        one.get(20, TimeUnit.SECONDS);
      }
      pool.leaveFree(32);
      assertThat(pool.pool().usage().freeBytes()).as("all extents came back").isEqualTo(2L << 20);
    } catch (java.util.concurrent.ExecutionException e) {
      throw new AssertionError("seed " + seed + ": " + e.getCause(), e);
    } finally {
      stop.set(true);
      threads.shutdownNow();
    }
  }

  /** Whether everything has happened often enough, which takes a busy machine longer. */
  private boolean enough(long millis) {
    boolean all =
        reads.get() > 100
            && foreignReads.get() > 10
            && ends.get() > 3
            && spills.get() > 3
            && unspills.get() > 3
            && evictedBytes.get() > 0;
    if (!all && millis > LONGEST_MILLIS) {
      throw new AssertionError(
          """
          after %d ms: %s reads, %s foreign reads, %s ends, %s spills, %s unspilled, %s bytes \
          evicted\
          """
              .formatted(millis, reads, foreignReads, ends, spills, unspills, evictedBytes));
    }
    return all && millis > MILLIS;
  }

  private final class Writer implements Callable<Void>, SegmentEvents {

    private final TinyPool pool;
    private final int number;
    private final Random random;
    private int lives;
    private volatile Life life;

    Writer(TinyPool pool, int number, Random random) throws IOException {
      this.pool = pool;
      this.number = number;
      this.random = random;
      this.life = newLife();
    }

    private Life newLife() throws IOException {
      int mark = number + 2 * lives++;
      Path logFile = Files.createFile(directory.resolve("log" + mark));
      Segment segment =
          new Segment(
              pool.allocate("segment" + mark), pool.pool(), 0, SegmentSettings.defaults(), this);
      FileChannel reader =
          segment.open(
              FileChannel.open(logFile, StandardOpenOption.READ), Set.of(StandardOpenOption.READ));
      return new Life(mark, segment, logFile, reader, new AtomicLong());
    }

    @Override
    public void spilled(long bytes, boolean first) {
      spills.addAndGet(first ? 1 : 0);
    }

    @Override
    public Void call() throws IOException {
      live();
      while (!stop.get()) {
        end(life);
        life = newLife();
        live();
      }
      end(life);
      return null;
    }

    private void live() throws IOException {
      Life current = life;
      Segment segment = current.segment();
      try (FileChannel channel =
          segment.open(
              FileChannel.open(
                  current.logFile(), StandardOpenOption.READ, StandardOpenOption.WRITE),
              Set.of(StandardOpenOption.WRITE))) {
        for (int i = 0; i < 60 && !stop.get(); i++) {
          long size = segment.size();
          if (random.nextInt(6) == 0) {
            long unusedBefore = current.cuts().incrementAndGet();
            channel.truncate((long) (size * random.nextDouble()));
            long unusedAfter = current.cuts().incrementAndGet();
          } else if (random.nextInt(6) == 0) {
            evictPart(current);
          } else {
            channel.write(current.bytes(size, 1 + random.nextInt(BLOCK / 2)), size);
          }
        }
      }
    }

    private void evictPart(Life current) throws IOException {
      Segment segment = current.segment();
      try (FileChannel logFile =
          FileChannel.open(current.logFile(), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        boolean unused = segment.markClean(segment.copyToLogFileAsItIs(logFile));
      }
      evictedBytes.addAndGet(segment.evictPart(true));
      try (FileChannel logFile =
          FileChannel.open(current.logFile(), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        unspills.addAndGet(segment.unspill(logFile, () -> logFile.force(true)) ? 1 : 0);
      }
    }

    private void end(Life current) throws IOException {
      current.segment().markDeleting();
      Files.delete(current.logFile());
      current.segment().releaseBytes();
      if (random.nextBoolean()) {
        // A deleted segment that is still open keeps its bytes.
        ByteBuffer target = ByteBuffer.allocate(BLOCK);
        if (current.reader().read(target, 0) > 0) {
          current.check(0, target.flip(), current.era());
        }
      }
      current.segment().free();
      current.reader().close();
      ends.incrementAndGet();
    }
  }

  private Callable<Void> reader(Writer writer, Random random) {
    return () -> {
      ByteBuffer target = ByteBuffer.allocateDirect(3 * BLOCK);
      while (!stop.get()) {
        Life life = writer.life;
        long position = (long) (random.nextDouble() * (life.segment().size() + 1));
        target.clear().limit(1 + random.nextInt(target.capacity()));
        long era = life.era();
        try {
          if (random.nextInt(3) == 0) {
            life.reader().transferTo(position, target.limit(), new Checking(life, position));
          } else {
            life.reader().read(target, position);
            life.check(position, target.flip(), era);
          }
          reads.incrementAndGet();
        } catch (ClosedChannelException e) {
          // The segment has come to its end; the writer has the next one.
        }
      }
      return null;
    };
  }

  private Callable<Void> foreignReader(Writer writer, PoolReader pool, Random random) {
    return () -> {
      ByteBuffer target = ByteBuffer.allocateDirect(3 * BLOCK);
      while (!stop.get()) {
        Life life = writer.life;
        ReadOnlySegment segment = new ReadOnlySegment(pool, life.segment().tag());
        try (FileChannel channel =
            segment.open(
                FileChannel.open(life.logFile(), StandardOpenOption.READ),
                Set.of(StandardOpenOption.READ))) {
          for (int i = 0; i < 20; i++) {
            long position = (long) (random.nextDouble() * (channel.size() + 1));
            target.clear().limit(1 + random.nextInt(target.capacity()));
            long era = life.era();
            if (channel.read(target, position) > 0) {
              life.check(position, target.flip(), era);
            }
            channel.transferTo(position, 1000, new Checking(life, position));
            foreignReads.incrementAndGet();
          }
        } catch (java.nio.file.NoSuchFileException e) {
          // Deleted before it was opened.
        } catch (IOException e) {
          assertThat(e).hasMessageContaining("deleted it or moved it");
        }
      }
      return null;
    };
  }

  /** A target that takes what it is given if that is right, slowly now and then. */
  private static final class Checking implements WritableByteChannel {

    private final Life life;
    private final long era;
    private long position;

    Checking(Life life, long position) {
      this.life = life;
      this.era = life.era();
      this.position = position;
    }

    @Override
    public int write(ByteBuffer source) {
      int length = source.remaining();
      if (position % 5 == 0) {
        // Half of it later: what the reader was given must stay what it is.
        source.limit(source.position() + length / 2);
        life.check(position, source, era);
        pause();
        source.limit(source.limit() + length - length / 2);
        life.check(position + length / 2, source, era);
      } else {
        life.check(position, source, era);
      }
      position += length;
      return length;
    }

    private static void pause() {
      try {
        Thread.sleep(1);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {}
  }

  /** A reader that takes its time holds the extents, and no append. */
  @Test
  void slowReaderHoldsExtentsAndNoWriter() throws Exception {
    try (TinyPool pool = TinyPool.create(directory.resolve("pool"))) {
      pool.leaveFree(2);
      Path logFile = Files.createFile(directory.resolve("log"));
      Segment segment =
          new Segment(
              pool.allocate("s"), pool.pool(), 0, SegmentSettings.defaults(), SegmentEvents.NONE);
      Set<StandardOpenOption> options = Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);
      try (FileChannel channel = segment.open(FileChannel.open(logFile, options), options)) {
        channel.write(ByteBuffer.wrap(new byte[2 * BLOCK]));
        WritableByteChannel slow =
            new WritableByteChannel() {
              @Override
              public int write(ByteBuffer source) throws IOException {
                // In the middle of the read everything goes on.
                channel.truncate(BLOCK / 2);
                assertThat(pool.pool().usage().freeBytes()).as("held").isZero();
                channel.write(ByteBuffer.wrap(new byte[BLOCK]), BLOCK / 2);
                assertThat(segment.size()).isEqualTo(BLOCK + BLOCK / 2);
                int length = source.remaining();
                source.position(source.limit());
                return length;
              }

              @Override
              public boolean isOpen() {
                return true;
              }

              @Override
              public void close() {}
            };
        assertThat(channel.transferTo(0, 1000, slow)).isEqualTo(1000);
        assertThat(pool.pool().usage().freeBytes()).as("released").isEqualTo(BLOCK);
      }
    }
  }
}
