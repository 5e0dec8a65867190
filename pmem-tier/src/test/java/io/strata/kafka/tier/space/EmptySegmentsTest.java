package io.strata.kafka.tier.space;

import static io.strata.kafka.tier.TierFixture.assertDone;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.layout.CheckedWord;
import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.memory.DelegatingMemory;
import io.strata.kafka.memory.MemoryOpener;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.pool.SimPools;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.Batches;
import io.strata.kafka.tier.TierFixture;
import io.strata.kafka.tier.directory.TierParts;
import io.strata.kafka.tier.offline.Drain;
import io.strata.kafka.tier.spec.MoveStage;
import io.strata.kafka.tier.spec.TierEvents;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Partitions without records do not keep the slots that others need. */
final class EmptySegmentsTest {

  private static final int SLOTS = 64;
  private static final int KEPT_FREE = SLOTS / 8;
  private static final Duration PATIENCE = Duration.ofSeconds(15);

  @TempDir private Path directory;
  private TierFixture fixture;
  private final List<FileChannel> channels = new ArrayList<>();

  @BeforeEach
  void open() throws IOException {
    fixture = new TierFixture(Files.createDirectory(directory.resolve("live")));
    fixture.pool("pool", 8 << 20);
    fixture.open();
  }

  @AfterEach
  void close() throws IOException {
    for (FileChannel channel : channels) {
      channel.close();
    }
    fixture.close();
  }

  private FileChannel segment(String partition) throws IOException {
    FileChannel channel =
        fixture.tier().open(fixture.segment(partition, 0), TierFixture.KAFKA).orElseThrow();
    channels.add(channel);
    return channel;
  }

  /** More than there are slots. */
  private void idlePartitions() throws IOException {
    for (int i = 0; i < SLOTS + 5; i++) {
      FileChannel unused = segment("idle" + i + "-0");
    }
  }

  private int freeSlots() {
    return fixture.tier().pools().get(0).usage().freeSlots();
  }

  private void look() throws InterruptedException {
    fixture.tier().emptySegments().look();
    fixture.awaitBackgroundWork();
  }

  private static void append(FileChannel channel, byte[] batch) throws IOException {
    int unused = channel.write(ByteBuffer.wrap(batch), channel.size());
  }

  private boolean isHot(String partition) {
    return fixture.view(fixture.logs().resolve(partition + "/00000000000000000000.log")).tier()
        == 0;
  }

  @Test
  void recordsOfAnotherTopicAreHot() throws Exception {
    idlePartitions();
    assertThat(freeSlots()).isZero();
    for (long end = System.nanoTime() + PATIENCE.toNanos();
        freeSlots() < KEPT_FREE && System.nanoTime() < end; ) {
      Thread.sleep(50);
    }
    append(segment("orders-0"), Batches.of(10_000, 1));
    assertThat(isHot("orders-0")).isTrue();
  }

  @Test
  void onlyAsManyGoAsAreWanted() throws Exception {
    idlePartitions();
    look();
    assertThat(freeSlots()).as("after one look").isZero();
    look();
    look();
    assertThat(freeSlots()).isEqualTo(KEPT_FREE);
    assertThat(isHot("idle0-0")).isFalse();
    assertThat(isHot("idle" + KEPT_FREE + "-0")).isTrue();
    assertThat(fixture.tier().figures().refused()).isZero();
  }

  @Test
  void segmentsWithRecordsStay() throws Exception {
    for (int i = 0; i < SLOTS; i++) {
      append(segment("busy" + i + "-0"), Batches.of(100, i));
    }
    look();
    look();
    assertThat(freeSlots()).isZero();
  }

  @Test
  void firstRecordsGoOnInThePool() throws Exception {
    idlePartitions();
    look();
    look();
    FileChannel first = channels.get(0);
    byte[] inLogFile = Batches.of(10_000, 1);
    byte[] inPool = Batches.of(20_000, 2);
    append(first, inLogFile);
    Path file = fixture.segment("idle0-0", 0);
    assertThat(Files.readAllBytes(file)).isEqualTo(inLogFile);
    assertDone(fixture.goOn(file));
    append(first, inPool);
    assertThat(Files.size(file)).isEqualTo(inLogFile.length);
    close();
    fixture.open();
    assertThat(fixture.read(file))
        .startsWith(inLogFile)
        .endsWith(inPool)
        .hasSize(inLogFile.length + inPool.length);
  }

  /** A power failure may bring the tag back, of a slot that another segment has by then. */
  @Test
  void anEvictionTakesTheTagBeforeTheSlot() throws Exception {
    FileChannel channel = segment("orders-0");
    Path file = fixture.segment("orders-0", 0);
    channels.add(
        fixture.tier().open(fixture.segment("orders-0", 1000), TierFixture.KAFKA).orElseThrow());
    int free = freeSlots();
    fixture.hook =
        stage -> {
          if (stage == MoveStage.EVICT_FREED) {
            try {
              assertThat(SegmentTag.read(file)).isEmpty();
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          }
        };
    assertDone(fixture.evict(file));
    fixture.awaitBackgroundWork();
    assertThat(freeSlots()).isEqualTo(free + 1);
    assertThat(SegmentTag.read(file)).isEmpty();
    append(channel, Batches.of(10_000, 1));
    assertThat(fixture.read(file)).isEqualTo(Batches.of(10_000, 1));
  }

  /** Opens a pool of which no slot is freed while a log file has a tag. */
  private static TierParts.PoolOpening tagsGoFirst(Path logFile) {
    return (file, type, owner) ->
        SimPools.open(
            new DelegatingMemory(MemoryOpener.open(MemoryType.MAPPED, file, true)) {
              @Override
              public void storeLong(long position, long word) throws IOException {
                if ((word & CheckedWord.MAX_VALUE) == SlotLayout.STATE_FREE) {
                  assertThat(SegmentTag.read(logFile)).isEmpty();
                }
                super.storeLong(position, word);
              }
            },
            owner,
            1);
  }

  @Test
  void aDrainTakesTheTagBeforeTheSlot() throws Exception {
    FileChannel unused = segment("orders-0");
    Path file = fixture.segment("orders-0", 0);
    fixture.close();
    Drain.Report report =
        Drain.run(
            fixture.spec(),
            TierEvents.NONE,
            ProgressListener.NONE,
            new TierParts(
                tagsGoFirst(file), TierParts.STANDARD.background(), TierParts.STANDARD.time()));
    assertThat(report.complete()).isTrue();
    assertThat(report.segments()).isEqualTo(1);
    assertThat(SegmentTag.read(file)).isEmpty();
  }

  /** The segment was about to get the slot. */
  @Test
  void aRecoveryTakesTheTagBeforeTheSlot() throws Exception {
    idlePartitions();
    look();
    look();
    Path killed = Files.createDirectory(directory.resolve("killed"));
    List<TierFixture> copies = new ArrayList<>();
    fixture.hook =
        stage -> {
          if (stage == MoveStage.UNSPILL_TAGGED && copies.isEmpty()) {
            try {
              copies.add(fixture.copyTo(killed));
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          }
        };
    Path file = fixture.segment("idle0-0", 0);
    assertDone(fixture.goOn(file));
    try (TierFixture copy = copies.get(0)) {
      Path copied = copy.segment("idle0-0", 0);
      assertThat(SegmentTag.read(copied)).isPresent();
      copy.opening = tagsGoFirst(copied);
      copy.open();
      assertThat(SegmentTag.read(copied)).isEmpty();
    }
  }

  @Test
  void appendsToTheLogFileOutlastTheProcess() throws Exception {
    idlePartitions();
    look();
    look();
    byte[] batch = Batches.of(10_000, 1);
    append(channels.get(0), batch);
    try (TierFixture killed = fixture.copyTo(Files.createDirectory(directory.resolve("killed")))) {
      killed.open();
      Path file = killed.segment("idle0-0", 0);
      assertThat(SegmentTag.read(file)).isEmpty();
      assertThat(killed.read(file)).isEqualTo(batch);
    }
  }
}
