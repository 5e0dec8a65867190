package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierUsage;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.tier.directory.TaggedLogFile;
import io.strata.kafka.tier.offline.Drain;
import io.strata.kafka.tier.spec.TierEvents;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.awaitility.Awaitility;

/** A few partitions under random use and random moves, with what must be in them. */
final class MoveWorld implements AutoCloseable {

  private static final int PARTITIONS = 3;
  private static final int LONGEST = 1_500_000;

  private final TierFixture fixture;
  private final Random random;

  /** The segments of each partition by base offset: their batches, one after another. */
  private final List<TreeMap<Long, byte[]>> partitions = new ArrayList<>();

  private final Map<Path, FileChannel> channels = new HashMap<>();
  private final List<FileChannel> deletedButOpen = new ArrayList<>();
  private long nextOffset = 1;

  MoveWorld(TierFixture fixture, long seed) {
    this.fixture = fixture;
    this.random = new Random(seed);
    for (int i = 0; i < PARTITIONS; i++) {
      partitions.add(new TreeMap<>());
    }
  }

  /** The same bytes in another place; the fixture is a copy of this one's. */
  MoveWorld copy(TierFixture files, long seed) {
    MoveWorld copy = new MoveWorld(files, seed);
    for (int i = 0; i < PARTITIONS; i++) {
      copy.partitions.get(i).putAll(partitions.get(i));
    }
    copy.nextOffset = nextOffset;
    return copy;
  }

  private Path file(int partition, long offset) throws IOException {
    return fixture.segment("orders-" + partition, offset);
  }

  private FileChannel channel(Path file) throws IOException {
    FileChannel known = channels.get(file);
    if (known != null && known.isOpen()) {
      return known;
    }
    FileChannel opened = fixture.tier().open(file, TierFixture.KAFKA).orElseThrow();
    channels.put(file, opened);
    return opened;
  }

  /** Opens every segment, as a starting broker does. */
  void openAll() throws IOException {
    for (int p = 0; p < PARTITIONS; p++) {
      for (long offset : partitions.get(p).keySet()) {
        assertThat(channel(file(p, offset)).isOpen()).isTrue();
      }
    }
  }

  void step() throws IOException, InterruptedException {
    int partition = random.nextInt(PARTITIONS);
    TreeMap<Long, byte[]> segments = partitions.get(partition);
    int kind = random.nextInt(20);
    if (segments.isEmpty() || kind < 2 || segments.lastEntry().getValue().length > LONGEST) {
      roll(partition);
    } else if (kind < 9) {
      append(partition);
    } else if (kind == 9) {
      truncate(partition);
    } else if (kind == 10 || segments.size() > 6) {
      deleteOldest(partition);
    } else if (kind == 11) {
      reopen();
    } else {
      move();
    }
  }

  private void roll(int partition) throws IOException {
    long offset = nextOffset++;
    partitions.get(partition).put(offset, new byte[0]);
    assertThat(channel(file(partition, offset)).size()).isZero();
  }

  private void append(int partition) throws IOException {
    Map.Entry<Long, byte[]> active = partitions.get(partition).lastEntry();
    byte[] more = Batches.of(1 + random.nextInt(300_000), random.nextLong());
    byte[] before = active.getValue();
    byte[] after = Arrays.copyOf(before, before.length + more.length);
    System.arraycopy(more, 0, after, before.length, more.length);
    FileChannel channel = channel(file(partition, active.getKey()));
    ByteBuffer buffer = ByteBuffer.wrap(more);
    channel.position(before.length);
    while (buffer.hasRemaining()) {
      assertThat(channel.write(buffer)).isPositive();
    }
    partitions.get(partition).put(active.getKey(), after);
  }

  /** As a follower whose leader has less: newer segments go, an older one is cut and goes on. */
  private void truncate(int partition) throws IOException {
    TreeMap<Long, byte[]> segments = partitions.get(partition);
    List<Long> offsets = new ArrayList<>(segments.keySet());
    int keep = random.nextInt(offsets.size());
    for (long offset : offsets.subList(keep + 1, offsets.size())) {
      delete(partition, offset);
    }
    long last = offsets.get(keep);
    byte[] bytes = segments.getOrDefault(last, new byte[0]);
    int batches = 0;
    int length = 0;
    int most = random.nextInt(20);
    while (length < bytes.length && batches < most) {
      length += 12 + ByteBuffer.wrap(bytes, length + 8, 4).getInt();
      batches++;
    }
    channel(file(partition, last)).truncate(length);
    segments.put(last, Arrays.copyOf(bytes, length));
  }

  private void deleteOldest(int partition) throws IOException {
    TreeMap<Long, byte[]> segments = partitions.get(partition);
    if (segments.size() > 1) {
      delete(partition, segments.firstKey());
    }
  }

  private void delete(int partition, long offset) throws IOException {
    Path file = file(partition, offset);
    Path deleted = file.resolveSibling(file.getFileName() + ".deleted");
    if (!fixture.tier().move(file, deleted, StandardCopyOption.ATOMIC_MOVE)) {
      Files.move(file, deleted, StandardCopyOption.ATOMIC_MOVE);
    }
    FileChannel channel = channels.remove(file);
    if (channel != null) {
      // As with any file, what is deleted keeps its space while it is open anywhere.
      deletedButOpen.add(channel);
      if (random.nextBoolean()) {
        closeDeleted();
      }
    }
    if (!fixture.tier().delete(deleted)) {
      Files.delete(deleted);
    }
    partitions.get(partition).remove(offset);
  }

  private void reopen() throws IOException {
    closeChannels();
    fixture.reopen();
    openAll();
  }

  private void move() throws IOException, InterruptedException {
    TieredSegments tiers = fixture.tier().tieredSegments();
    List<SegmentView> views = tiers.state().segments();
    if (views.isEmpty()) {
      return;
    }
    SegmentView view = views.get(random.nextInt(views.size()));
    int logFile = tiers.state().tiers().size();
    int to = random.nextInt(logFile + 1);
    if (view.active() && to < logFile && (view.spilled() || view.tier() == logFile)) {
      assertThat(tiers.goOn(view.id(), Math.min(to, view.tier()), MoveControl.UNLIMITED))
          .isNotNull();
    } else if (view.clean() && random.nextBoolean()) {
      assertThat(tiers.evict(view.id())).isNotNull();
    } else if (to > view.tier()) {
      assertThat(tiers.destage(view.id(), to, MoveControl.UNLIMITED)).isNotNull();
    } else if (to < logFile) {
      assertThat(tiers.promote(view.id(), to, MoveControl.UNLIMITED)).isNotNull();
    }
  }

  /** Every segment has its bytes, and every byte of the pools is a segment's or free. */
  void check() throws IOException {
    closeDeleted();
    for (int p = 0; p < PARTITIONS; p++) {
      for (Map.Entry<Long, byte[]> segment : partitions.get(p).entrySet()) {
        Path file = file(p, segment.getKey());
        assertThat(fixture.read(file)).as(file.toString()).isEqualTo(segment.getValue());
      }
    }
    Awaitility.await()
        .untilAsserted(
            () -> {
              for (TierUsage usage : fixture.tier().tieredSegments().state().tiers()) {
                assertThat(usage.dirtyBytes() + usage.cleanBytes())
                    .as(usage.toString())
                    .isEqualTo(usage.usedBytes());
              }
            });
  }

  /** Drains everything, and looks at it as a stock broker would. */
  void drain() throws IOException {
    closeChannels();
    fixture.close();
    assertThat(Drain.run(fixture.spec(), TierEvents.NONE, (done, total) -> {}).complete()).isTrue();
    for (int p = 0; p < PARTITIONS; p++) {
      for (Map.Entry<Long, byte[]> segment : partitions.get(p).entrySet()) {
        Path file = file(p, segment.getKey());
        assertThat(Files.readAllBytes(file)).as(file.toString()).isEqualTo(segment.getValue());
        assertThat(TaggedLogFile.tagOf(file)).isEmpty();
      }
    }
  }

  private void closeDeleted() throws IOException {
    for (FileChannel channel : deletedButOpen) {
      channel.close();
    }
    deletedButOpen.clear();
  }

  private void closeChannels() throws IOException {
    closeDeleted();
    for (FileChannel channel : channels.values()) {
      channel.close();
    }
    channels.clear();
  }

  @Override
  public void close() throws IOException {
    closeChannels();
    fixture.close();
  }
}
