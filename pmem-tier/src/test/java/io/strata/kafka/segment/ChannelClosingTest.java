package io.strata.kafka.segment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.FileLockInterruptionException;
import java.nio.channels.Pipe;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Closing and interrupting, against what the JDK's channel does in the same place. */
@Timeout(600)
final class ChannelClosingTest {

  private static final Set<StandardOpenOption> READ_WRITE =
      Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);
  private static final int ROUNDS = 12;

  @TempDir(factory = MemoryBackedDirectory.class)
  Path directory;

  /** Those of earlier rounds, whose slots the next one needs. */
  private final List<Segment> segments = new ArrayList<>();

  private TinyPool pool;
  private int files;

  /** Where the bytes of the channel under test are. */
  enum Place {
    PLAIN,
    POOL,
    LOG_DIRS
  }

  /** What goes on until it is stopped. */
  enum Busy {
    WRITE {
      @Override
      void once(FileChannel channel) throws IOException {
        channel.write(ByteBuffer.allocate(5000), 0);
      }
    },
    APPEND {
      @Override
      void once(FileChannel channel) throws IOException {
        channel.position(100);
        channel.write(ByteBuffer.allocate(5000));
      }
    },
    READ {
      @Override
      void once(FileChannel channel) throws IOException {
        channel.read(ByteBuffer.allocate(5000), 0);
      }
    },
    SIZE {
      @Override
      void once(FileChannel channel) throws IOException {
        channel.size();
      }
    },
    FORCE {
      @Override
      void once(FileChannel channel) throws IOException {
        channel.write(ByteBuffer.allocate(10), 0);
        channel.force(true);
      }
    },
    TRUNCATE {
      @Override
      void once(FileChannel channel) throws IOException {
        channel.write(ByteBuffer.allocate(50), 1000);
        channel.truncate(100);
      }
    };

    abstract void once(FileChannel channel) throws IOException;
  }

  @BeforeEach
  void open() throws IOException {
    pool = TinyPool.create(directory.resolve("pool"));
  }

  @AfterEach
  void close() throws IOException {
    pool.close();
  }

  private FileChannel channel(Place place) throws IOException {
    Path file = Files.createFile(directory.resolve("file" + files++));
    FileChannel channel =
        place == Place.PLAIN
            ? FileChannel.open(file, READ_WRITE)
            : segment(place).open(FileChannel.open(file, READ_WRITE), READ_WRITE);
    channel.write(ByteBuffer.allocate(10_000), 0);
    return channel;
  }

  private Segment segment(Place place) throws IOException {
    for (Segment old : segments) {
      old.markDeleting();
      old.free();
    }
    segments.clear();
    pool.leaveFree(place == Place.LOG_DIRS ? 0 : 4);
    Segment segment =
        new Segment(
            pool.allocate("s"), pool.pool(), 0, SegmentSettings.defaults(), SegmentEvents.NONE);
    segments.add(segment);
    return segment;
  }

  @ParameterizedTest
  @EnumSource(Busy.class)
  void asynchronousCloseEndsEveryOperation(Busy busy) throws Exception {
    for (Place place : Place.values()) {
      for (int round = 0; round < ROUNDS; round++) {
        FileChannel channel = channel(place);
        Throwable end = stopped(busy, channel, round, unused -> channel.close());
        assertThat(end)
            .as("%s %s round %s", busy, place, round)
            .isInstanceOf(ClosedChannelException.class)
            .isNotInstanceOf(ClosedByInterruptException.class);
        assertThat(channel.isOpen()).isFalse();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Busy.class)
  void interruptClosesTheChannel(Busy busy) throws Exception {
    for (Place place : Place.values()) {
      for (int round = 0; round < ROUNDS; round++) {
        FileChannel channel = channel(place);
        Throwable end = stopped(busy, channel, round, Thread::interrupt);
        assertThat(end)
            .as("%s %s round %s", busy, place, round)
            .isExactlyInstanceOf(ClosedByInterruptException.class);
        assertThat(channel.isOpen()).isFalse();
      }
    }
  }

  private interface Stopping {
    void stop(Thread thread) throws IOException;
  }

  /** Lets a thread be busy, stops it, and returns what it ended with; it stays interrupted. */
  private static Throwable stopped(Busy busy, FileChannel channel, int round, Stopping stopping)
      throws Exception {
    AtomicReference<Throwable> end = new AtomicReference<>();
    AtomicReference<Boolean> interrupted = new AtomicReference<>();
    AtomicLong done = new AtomicLong();
    Thread thread =
        new Thread(
            () -> {
              try {
                while (true) {
                  busy.once(channel);
                  done.incrementAndGet();
                }
              } catch (Throwable e) {
                end.set(e);
                interrupted.set(Thread.currentThread().isInterrupted());
              }
            });
    thread.start();
    while (done.get() < 1 + round % 5) {
      Thread.onSpinWait();
    }
    stopping.stop(thread);
    thread.join(TimeUnit.SECONDS.toMillis(60));
    assertThat(thread.isAlive()).isFalse();
    assertThat(interrupted.get()).isEqualTo(end.get() instanceof ClosedByInterruptException);
    return Objects.requireNonNull(end.get());
  }

  @Test
  void interruptClosesOneChannelOfASegment() throws Exception {
    for (Place place : new Place[] {Place.POOL, Place.LOG_DIRS}) {
      Path file = Files.createFile(directory.resolve("shared" + place));
      Segment segment = segment(place);
      try (FileChannel other = segment.open(FileChannel.open(file, READ_WRITE), READ_WRITE)) {
        other.write(ByteBuffer.allocate(10_000), 0);
        for (int round = 0; round < ROUNDS; round++) {
          FileChannel channel = segment.open(FileChannel.open(file, READ_WRITE), READ_WRITE);
          stopped(Busy.WRITE, channel, round, Thread::interrupt);
          assertThat(segment.openChannels()).isEqualTo(1);
          assertThat(other.write(ByteBuffer.allocate(10), segment.size())).isEqualTo(10);
          assertThat(other.read(ByteBuffer.allocate(10), segment.size() - 10)).isEqualTo(10);
        }
      }
    }
  }

  @Test
  void interruptedBytesCount() throws Exception {
    // What an interrupted append has written is there or not, but the size never lies.
    for (int round = 0; round < ROUNDS; round++) {
      Path file = Files.createFile(directory.resolve("counted" + round));
      Segment segment = segment(Place.LOG_DIRS);
      FileChannel channel = segment.open(FileChannel.open(file, READ_WRITE), READ_WRITE);
      AtomicLong acknowledged = new AtomicLong();
      Thread writer =
          new Thread(
              () -> {
                try {
                  while (true) {
                    ByteBuffer source = ByteBuffer.allocate(3000);
                    acknowledged.addAndGet(channel.write(source));
                  }
                } catch (IOException e) {
                  // Interrupted.
                }
              });
      writer.start();
      while (acknowledged.get() < 3000L * (round % 7)) {
        Thread.onSpinWait();
      }
      writer.interrupt();
      writer.join();
      assertThat(segment.size()).isGreaterThanOrEqualTo(acknowledged.get());
      assertThat(segment.size()).isEqualTo(Files.size(file));
    }
  }

  @ParameterizedTest
  @EnumSource(Place.class)
  void interruptEndsABlockedTransferTo(Place place) throws Exception {
    Pipe pipe = Pipe.open();
    FileChannel channel = channel(place);
    channel.write(ByteBuffer.allocate(1 << 17), 0);
    CountDownLatch blocked = new CountDownLatch(1);
    AtomicReference<Throwable> end = new AtomicReference<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                blocked.countDown();
                while (true) {
                  channel.transferTo(0, 1 << 17, pipe.sink());
                }
              } catch (Throwable e) {
                end.set(e);
              }
            });
    thread.start();
    blocked.await();
    awaitState(thread);
    thread.interrupt();
    thread.join(TimeUnit.SECONDS.toMillis(60));
    assertThat(end.get()).isInstanceOf(ClosedByInterruptException.class);
    assertThat(channel.isOpen()).isFalse();
    if (place == Place.POOL) {
      // What the contract says. The JDK's sendfile closes its target from JDK 21 on only.
      assertThat(pipe.sink().isOpen()).isFalse();
    }
    pipe.source().close();
  }

  /** Gives the thread time to fill the pipe and block; a thread in a system call is runnable. */
  private static void awaitState(Thread thread) throws InterruptedException {
    Thread.sleep(100);
    assertThat(thread.isAlive()).isTrue();
  }

  /** Of bytes in the pool only: the JDK's own sendfile to a pipe is not woken by this. */
  @Test
  void closedTargetEndsATransferAndNotTheChannel() throws Exception {
    Pipe pipe = Pipe.open();
    FileChannel channel = channel(Place.POOL);
    channel.write(ByteBuffer.allocate(1 << 17), 0);
    AtomicReference<Throwable> end = new AtomicReference<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                while (true) {
                  channel.transferTo(0, 1 << 17, pipe.sink());
                }
              } catch (Throwable e) {
                end.set(e);
              }
            });
    thread.start();
    awaitState(thread);
    pipe.sink().close();
    thread.join(TimeUnit.SECONDS.toMillis(60));
    assertThat(end.get()).isInstanceOf(AsynchronousCloseException.class);
    assertThat(channel.isOpen()).isTrue();
    channel.close();
    pipe.source().close();
  }

  @ParameterizedTest
  @EnumSource(Place.class)
  void interruptEndsABlockedTransferFrom(Place place) throws Exception {
    Pipe pipe = Pipe.open();
    FileChannel channel = channel(place);
    AtomicReference<Throwable> end = new AtomicReference<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                channel.transferFrom(pipe.source(), 0, 1000);
              } catch (Throwable e) {
                end.set(e);
              }
            });
    thread.start();
    awaitState(thread);
    thread.interrupt();
    thread.join(TimeUnit.SECONDS.toMillis(60));
    assertThat(end.get()).isInstanceOf(ClosedByInterruptException.class);
    assertThat(pipe.source().isOpen()).isFalse();
    pipe.sink().close();
  }

  @ParameterizedTest
  @EnumSource(Place.class)
  void interruptedThreadGetsNoLock(Place place) throws Exception {
    try (FileChannel channel = channel(place)) {
      Thread.currentThread().interrupt();
      try {
        channel.lock();
        throw new AssertionError("locked");
      } catch (FileLockInterruptionException e) {
        assertThat(channel.isOpen()).isFalse();
      } finally {
        assertThat(Thread.interrupted()).isTrue();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Place.class)
  void closeReleasesLocks(Place place) throws Exception {
    FileChannel channel = channel(place);
    FileLock lock = channel.lock(10, 20, false);
    assertThat(lock.acquiredBy()).isSameAs(channel);
    assertThat(lock.channel()).isSameAs(channel);
    assertThat(lock.isValid()).isTrue();
    FileLock shared = channel.tryLock(100, 5, true);
    assertThat(shared).isNotNull();
    assertThat(shared.isShared()).isTrue();
    shared.release();
    assertThat(shared.isValid()).isFalse();
    channel.close();
    assertThat(lock.isValid()).isFalse();
    assertThatThrownBy(lock::release).isExactlyInstanceOf(ClosedChannelException.class);
  }
}
