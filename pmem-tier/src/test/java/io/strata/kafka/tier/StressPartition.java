package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.tier.directory.TaggedLogFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A partition under stress, and what must be in it. One thread writes, as in Kafka: it appends,
 * rolls, truncates, deletes, renames. Any number of others read and compare.
 *
 * <p>Thread safety: {@link #step} and what ends it by one thread at a time, {@link #read} by any.
 */
final class StressPartition {

  private static final int LONGEST = 1_200_000;
  private static final int MOST_SEGMENTS = 6;

  /** What one segment must be. */
  private static final class Expected {
    final long offset;

    /** Filled before the append, and compared with whatever a reader gets. */
    volatile byte[] content = new byte[0];

    /** Acknowledged. */
    volatile int committed;

    /** One more with each truncation, and when the segment goes: a reader must look again. */
    final AtomicInteger era = new AtomicInteger();

    Expected(long offset) {
      this.offset = offset;
    }
  }

  private final TierFixture fixture;
  private final String name;
  private final Random random;
  private final ConcurrentSkipListMap<Long, Expected> segments = new ConcurrentSkipListMap<>();
  private final List<FileChannel> deletedButOpen = new ArrayList<>();
  private Optional<FileChannel> active = Optional.empty();
  private long nextOffset;

  /** What happened, for the test's own honesty. */
  final AtomicLong appends = new AtomicLong();

  final AtomicLong truncations = new AtomicLong();
  final AtomicLong deletions = new AtomicLong();
  final AtomicLong renames = new AtomicLong();
  final AtomicLong reads = new AtomicLong();

  StressPartition(TierFixture fixture, String name, Random random) {
    this.fixture = fixture;
    this.name = name;
    this.random = random;
  }

  private Path file(long offset) throws IOException {
    return fixture.logs().resolve(name).resolve(String.format("%020d.log", offset));
  }

  /** Does one thing to it. */
  void step() throws IOException {
    int kind = random.nextInt(100);
    if (segments.isEmpty() || segments.lastEntry().getValue().committed > LONGEST || kind < 4) {
      roll();
    } else if (kind < 80) {
      append(segments.lastEntry().getValue());
    } else if (kind < 88) {
      truncate();
    } else if (kind < 97 || segments.size() > MOST_SEGMENTS) {
      deleteOldest();
    } else {
      rename();
    }
  }

  private void roll() throws IOException {
    closeActive();
    long offset = nextOffset++;
    FileChannel channel =
        fixture.tier().open(fixture.segment(name, offset), TierFixture.KAFKA).orElseThrow();
    assertThat(channel.size()).isZero();
    active = Optional.of(channel);
    segments.put(offset, new Expected(offset));
  }

  private void closeActive() throws IOException {
    if (active.isPresent()) {
      active.get().close();
    }
    active = Optional.empty();
  }

  private FileChannel active(Expected of) throws IOException {
    if (active.isEmpty()) {
      active = fixture.tier().open(file(of.offset), TierFixture.KAFKA);
    }
    return active.orElseThrow();
  }

  private void append(Expected to) throws IOException {
    byte[] more = Batches.of(1 + random.nextInt(100_000), random.nextLong());
    byte[] all = Arrays.copyOf(to.content, to.committed + more.length);
    System.arraycopy(more, 0, all, to.committed, more.length);
    to.content = all;
    FileChannel channel = active(to);
    channel.position(to.committed);
    ByteBuffer source = ByteBuffer.wrap(more);
    while (source.hasRemaining()) {
      assertThat(channel.write(source)).isPositive();
    }
    to.committed = all.length;
    appends.incrementAndGet();
    if (random.nextInt(20) == 0) {
      channel.force(true);
    }
  }

  /** As a follower whose leader has less. */
  private void truncate() throws IOException {
    if (segments.size() > 1 && random.nextInt(4) == 0) {
      delete(segments.lastEntry().getValue());
    }
    Expected last = segments.lastEntry().getValue();
    int length = 0;
    for (int most = random.nextInt(20); most > 0 && length < last.committed; most--) {
      length += 12 + ByteBuffer.wrap(last.content, length + 8, 4).getInt();
    }
    last.era.incrementAndGet();
    active(last).truncate(length);
    last.committed = Math.min(length, last.committed);
    last.era.incrementAndGet();
    truncations.incrementAndGet();
  }

  private void deleteOldest() throws IOException {
    if (segments.size() > 1) {
      delete(segments.firstEntry().getValue());
    }
  }

  private void delete(Expected one) throws IOException {
    one.era.incrementAndGet();
    if (segments.lastEntry().getValue() == one) {
      active.ifPresent(deletedButOpen::add);
      active = Optional.empty();
    }
    segments.remove(one.offset);
    Path file = file(one.offset);
    Path deleted = file.resolveSibling(file.getFileName() + ".deleted");
    if (!fixture.tier().move(file, deleted, StandardCopyOption.ATOMIC_MOVE)) {
      Files.move(file, deleted, StandardCopyOption.ATOMIC_MOVE);
    }
    if (random.nextBoolean()) {
      closeDeleted();
    }
    if (!fixture.tier().delete(deleted)) {
      Files.delete(deleted);
    }
    deletions.incrementAndGet();
  }

  private void closeDeleted() throws IOException {
    for (FileChannel channel : deletedButOpen) {
      channel.close();
    }
    deletedButOpen.clear();
  }

  /** The directory goes by another name for a moment, as a replica that is to be deleted does. */
  private void rename() throws IOException {
    Path directory = fixture.logs().resolve(name);
    Path other = fixture.logs().resolve(name + ".0123456789abcdef0123456789abcdef-stray");
    move(directory, other);
    move(other, directory);
    renames.incrementAndGet();
  }

  private void move(Path from, Path to) throws IOException {
    if (!fixture.tier().move(from, to, StandardCopyOption.ATOMIC_MOVE)) {
      Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    }
  }

  /** Reads somewhere, as a consumer does, and compares. */
  void read(Random chance, ByteBuffer target) throws IOException {
    List<Expected> all = List.copyOf(segments.values());
    if (all.isEmpty()) {
      return;
    }
    Expected one = all.get(chance.nextInt(all.size()));
    Optional<FileChannel> opened;
    try {
      opened = fixture.tier().open(file(one.offset), Set.of(StandardOpenOption.READ));
    } catch (NoSuchFileException e) {
      return; // Deleted just now, or its directory goes by another name.
    }
    if (opened.isEmpty()) {
      return;
    }
    try (FileChannel channel = opened.get()) {
      for (int i = 0; i < 8; i++) {
        read(one, channel, chance, target);
      }
    }
  }

  private void read(Expected one, FileChannel channel, Random chance, ByteBuffer target)
      throws IOException {
    int era = one.era.get();
    int committed = one.committed;
    int position = chance.nextInt(committed + 1);
    target.clear().limit(1 + chance.nextInt(target.capacity()));
    int read = channel.read(target, position);
    byte[] content = one.content;
    if ((era & 1) == 1 || one.era.get() != era) {
      return; // A truncation came in between, or the segment's end.
    }
    if (read <= 0 && position < committed) {
      throw new AssertionError(
          "%s at %d of %d acknowledged: read %d of a channel of size %d; the log file %s, tag %s, known %s"
              .formatted(
                  file(one.offset),
                  position,
                  committed,
                  read,
                  channel.size(),
                  Files.size(file(one.offset)),
                  TaggedLogFile.tagOf(file(one.offset)),
                  fixture.tier().size(file(one.offset))));
    }
    if (read > 0) {
      assertThat(position + read).isLessThanOrEqualTo(content.length);
      byte[] found = new byte[read];
      target.get(0, found);
      int different =
          Arrays.mismatch(
              found, 0, read, content, position, Math.min(content.length, position + read));
      assertThat(different)
          .as("%s: first wrong byte of %d from %d", file(one.offset), read, position)
          .isEqualTo(-1);
      reads.incrementAndGet();
    }
  }

  /** All that there must be is there, and nothing else. */
  void check() throws IOException {
    closeDeleted();
    for (Map.Entry<Long, Expected> entry : segments.entrySet()) {
      Expected one = entry.getValue();
      assertThat(Arrays.equals(fixture.read(file(entry.getKey())), committed(one)))
          .as("%s: %d bytes", file(entry.getKey()), one.committed)
          .isTrue();
    }
  }

  private static byte[] committed(Expected one) {
    return Arrays.copyOf(one.content, one.committed);
  }

  /** The log file alone has it all; after a drain. */
  void checkInLogFile() throws IOException {
    for (Map.Entry<Long, Expected> entry : segments.entrySet()) {
      assertThat(Files.readAllBytes(file(entry.getKey())))
          .as("%s", file(entry.getKey()))
          .isEqualTo(committed(entry.getValue()));
    }
  }

  void close() throws IOException {
    closeActive();
    closeDeleted();
  }
}
