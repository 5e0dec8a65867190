package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.pool.PoolChecker;
import io.strata.kafka.tier.spec.TierEvents;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Flushes that meet deletions and renames, as with {@code file.delete.delay.ms=0} on a slow disk:
 * topics are created and deleted, and replicas moved between two log directories, while other
 * threads flush their segments. A flush fails only if its channel was closed, nothing in the
 * background fails, and no slot is left.
 */
final class FlushAndDeletionTest {

  private static final int MIB = 1 << 20;
  private static final int TOPICS = 4;
  private static final int ROUNDS = 40;

  @TempDir private Path directory;
  private TierFixture fixture;
  private final Queue<FileChannel> toFlush = new ConcurrentLinkedQueue<>();
  private final Queue<String> failures = new ConcurrentLinkedQueue<>();
  private volatile boolean done;

  @BeforeEach
  void open() throws IOException {
    fixture = new TierFixture(directory).pool("hot.pool", 16 * MIB);
    fixture.logDirectories.add(Files.createDirectory(fixture.root.resolve("logs2")));
    fixture.events =
        new TierEvents() {
          @Override
          public void backgroundFailure(String what, Exception cause) {
            failures.add(what + ": " + cause);
          }
        };
    HotTier unused = fixture.open();
  }

  @Test
  void noFlushFailsAndNoSlotIsLeft() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(TOPICS + 2);
    try {
      List<Future<?>> flushers = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        flushers.add(threads.submit(this::flush));
      }
      List<Future<?>> topics = new ArrayList<>();
      for (int topic = 0; topic < TOPICS; topic++) {
        int number = topic;
        topics.add(threads.submit(() -> live("orders" + number + "-0", new Random(number))));
      }
      for (Future<?> each : topics) {
        each.get();
      }
      done = true;
      for (Future<?> each : flushers) {
        each.get();
      }
    } finally {
      done = true;
      threads.shutdownNow();
    }
    assertThat(failures).isEmpty();
    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(
            () -> {
              fixture.awaitBackgroundWork();
              assertThat(fixture.tier().pools().get(0).slots()).isEmpty();
            });
    assertThat(failures).isEmpty();
    fixture.close();
    assertThat(PoolChecker.check(fixture.pools.get(0)).usedBytes()).isZero();
  }

  /** As Kafka's scheduler, which flushes what was rolled. */
  private Void flush() throws IOException {
    while (!done) {
      FileChannel channel = toFlush.poll();
      if (channel != null) {
        try {
          channel.force(true);
        } catch (ClosedChannelException closed) {
          // By the deletion of its topic.
        }
      }
    }
    return null;
  }

  /** One topic after the other, of one name. */
  private Void live(String name, Random random) throws IOException {
    for (int round = 0; round < ROUNDS; round++) {
      Path at = fixture.logDirectories.get(random.nextInt(2)).resolve(name);
      Files.createDirectory(at);
      List<FileChannel> open = new ArrayList<>();
      int segments = 1 + random.nextInt(3);
      for (int i = 0; i < segments; i++) {
        open.add(append(at, i * 1000L, random));
      }
      if (random.nextBoolean()) {
        at = moveToOther(at, open, segments, random);
      }
      open.add(append(at, segments * 1000L, random));
      delete(at, "-delete", open, random);
    }
    return null;
  }

  private FileChannel append(Path partition, long offset, Random random) throws IOException {
    Path file = partition.resolve(String.format("%020d.log", offset));
    FileChannel channel =
        fixture
            .tier()
            .open(file, TierFixture.KAFKA)
            .orElseThrow(() -> new IOException("not opened: " + file));
    byte[] bytes = Batches.of(1 + random.nextInt(600_000), random.nextLong());
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
    toFlush.add(channel);
    return channel;
  }

  /** As Kafka's future replica, which takes the place of the current one. */
  private Path moveToOther(Path from, List<FileChannel> open, int segments, Random random)
      throws IOException {
    Path other = fixture.logDirectories.get(from.startsWith(fixture.logDirectories.get(0)) ? 1 : 0);
    Path future = other.resolve(from.getFileName() + "." + id(random) + "-future");
    Files.createDirectory(future);
    List<FileChannel> copied = new ArrayList<>();
    for (int i = 0; i < segments; i++) {
      copied.add(append(future, i * 1000L, random));
    }
    Path current = other.resolve(from.getFileName());
    List<FileChannel> old = new ArrayList<>(open);
    Path away = rename(from, "-delete", random);
    move(future, current);
    remove(away, old, random);
    open.clear();
    open.addAll(copied);
    return current;
  }

  private void delete(Path partition, String suffix, List<FileChannel> open, Random random)
      throws IOException {
    remove(rename(partition, suffix, random), open, random);
  }

  private Path rename(Path partition, String suffix, Random random) throws IOException {
    Path to = partition.resolveSibling(partition.getFileName() + "." + id(random) + suffix);
    move(partition, to);
    return to;
  }

  private void move(Path from, Path to) throws IOException {
    if (!fixture.tier().move(from, to, StandardCopyOption.ATOMIC_MOVE)) {
      Path unused = Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    }
  }

  /** Kafka closes the channels before, or a flush has them still. */
  private void remove(Path partition, List<FileChannel> open, Random random) throws IOException {
    boolean closeFirst = random.nextBoolean();
    if (closeFirst) {
      close(open);
    }
    List<Path> files;
    try (Stream<Path> all = Files.list(partition)) {
      files = all.toList();
    }
    for (Path file : files) {
      if (!fixture.tier().delete(file)) {
        Files.delete(file);
      }
    }
    Files.delete(partition);
    if (!closeFirst) {
      close(open);
    }
  }

  private static void close(List<FileChannel> open) throws IOException {
    for (FileChannel channel : open) {
      channel.close();
    }
  }

  private static String id(Random random) {
    return String.format("%016x%016x", random.nextLong(), random.nextLong());
  }
}
