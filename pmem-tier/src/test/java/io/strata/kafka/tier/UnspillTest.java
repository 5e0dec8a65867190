package io.strata.kafka.tier;

import static io.strata.kafka.tier.TierFixture.assertDone;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.spec.MoveStage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The appends to an active segment go to a pool again, when that has space again. */
final class UnspillTest {

  private static final int POOL = 4 << 20;
  private static final int PIECE = 300_000;

  @TempDir private Path directory;
  private TierFixture fixture;
  private Path file;
  private Path other;
  private Optional<FileChannel> opened = Optional.empty();
  private FileChannel otherChannel;
  private final ByteArrayOutputStream expected = new ByteArrayOutputStream();
  private int seed;

  @BeforeEach
  void open() throws IOException {
    fixture = new TierFixture(Files.createDirectory(directory.resolve("live"))).pool("pool", POOL);
    fixture.open();
    other = fixture.segment("other-0", 0);
    otherChannel = fixture.tier().open(other, TierFixture.KAFKA).orElseThrow();
    file = fixture.segment("orders-0", 0);
  }

  @AfterEach
  void close() throws IOException {
    if (opened.isPresent()) {
      opened.get().close();
    }
    otherChannel.close();
    fixture.close();
  }

  private FileChannel channel() {
    return opened.orElseThrow();
  }

  private void openFile() throws IOException {
    opened = fixture.tier().open(file, TierFixture.KAFKA);
  }

  private int append() throws IOException {
    byte[] bytes = Batches.of(PIECE, ++seed);
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    long at = channel().size();
    while (buffer.hasRemaining()) {
      int unused = channel().write(buffer, at + buffer.position());
    }
    expected.writeBytes(bytes);
    return bytes.length;
  }

  /** Another partition takes all that is free in the pool. */
  private void fill() throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(Batches.of(64 << 10, 77));
    while (!fixture.view(other).spilled()) {
      int unused = otherChannel.write(bytes.clear(), otherChannel.size());
    }
  }

  private void free() throws IOException {
    FileChannel unused = otherChannel.truncate(0);
  }

  private void spill() throws IOException {
    fill();
    while (fixture.view(file).tier() == 0 && !fixture.view(file).spilled()) {
      append();
    }
  }

  private void assertContent() throws IOException {
    assertThat(fixture.read(file)).isEqualTo(expected.toByteArray());
  }

  private void assertGoesToThePool() throws IOException {
    long before = Files.size(file);
    long dirty = fixture.view(file).dirtyBytes();
    int appended = append();
    assertThat(Files.size(file)).isEqualTo(before);
    assertThat(fixture.view(file).dirtyBytes()).isEqualTo(dirty + appended);
    assertContent();
  }

  private void reopen() throws IOException {
    channel().close();
    otherChannel.close();
    fixture.reopen();
    openFile();
    otherChannel = fixture.tier().open(other, TierFixture.KAFKA).orElseThrow();
  }

  /** Goes on with what a kill would leave now. */
  private void kill(String name) throws IOException {
    TierFixture killed = fixture.copyTo(Files.createDirectory(directory.resolve(name)));
    channel().close();
    otherChannel.close();
    fixture.close();
    file = killed.root.resolve(fixture.root.relativize(file));
    other = killed.root.resolve(fixture.root.relativize(other));
    fixture = killed;
    fixture.open();
    openFile();
    otherChannel = fixture.tier().open(other, TierFixture.KAFKA).orElseThrow();
  }

  @Test
  void aSpilledSegmentGoesOnInItsPool() throws Exception {
    openFile();
    append();
    spill();
    append();
    free();
    assertDone(fixture.goOn(file));
    assertContent();
    assertGoesToThePool();
    reopen();
    assertContent();
    assertGoesToThePool();
  }

  @Test
  void manyTimesOver() throws Exception {
    openFile();
    append();
    for (int i = 0; i < 20; i++) {
      spill();
      free();
      assertDone(fixture.goOn(file));
      assertGoesToThePool();
      if (i % 3 == 0) {
        kill("killed" + i);
      }
    }
    // Less than the pool: what has spilled stays in the log file.
    assertThat(expected.size()).isGreaterThan(POOL);
    reopen();
    assertContent();
  }

  @Test
  void aSegmentThatFoundNoSpaceGetsSome() throws Exception {
    fill();
    openFile();
    append();
    assertThat(fixture.view(file).tier()).isEqualTo(1);
    free();
    assertDone(fixture.goOn(file));
    assertThat(fixture.view(file).tier()).isZero();
    assertGoesToThePool();
    assertThat(fixture.view(file).spilled()).isFalse();
    reopen();
    assertContent();
  }

  /** What it has had in the pool is in the log file, and freed: an eviction by another name. */
  @Test
  void whatItHasHadInThePoolCountsAsEvicted() throws Exception {
    openFile();
    append();
    spill();
    free();
    long inPool = fixture.tier().pools().get(0).usage().usedBytes();
    long before = fixture.tier().counts().tiers().get(0).evicted().bytes().sum();
    assertDone(fixture.goOn(file));
    long after = fixture.tier().counts().tiers().get(0).evicted().bytes().sum();
    assertThat(after - before).isPositive().isLessThanOrEqualTo(inPool);
  }

  @Test
  void aDeletionWhileItGetsASlotFreesThatSlot() throws Exception {
    fill();
    openFile();
    append();
    free();
    int slots = fixture.tier().pools().get(0).usage().freeSlots();
    fixture.at(
        MoveStage.UNSPILL_TAGGED,
        () -> {
          assertThat(fixture.tier().delete(file)).isTrue();
          channel().close();
        });
    MoveResult moved = fixture.goOn(file);
    assertThat(moved.outcome()).as(moved.reason()).isEqualTo(MoveResult.Outcome.CANCELLED);
    assertThat(fixture.tier().pools().get(0).usage().freeSlots()).isEqualTo(slots);
  }

  @Test
  void aPoolWithoutSpaceLeavesItAsItIs() throws Exception {
    openFile();
    append();
    spill();
    long before = fixture.view(file).bytes();
    MoveResult unused = fixture.goOn(file);
    assertContent();
    assertThat(fixture.view(file).bytes()).isEqualTo(before);
    append();
    assertContent();
  }

  @Test
  void aKillAtAnyStageLosesNothing() throws Exception {
    for (MoveStage stage :
        List.of(MoveStage.UNSPILL_STARTED, MoveStage.DESTAGE_CLEAN, MoveStage.UNSPILL_DONE)) {
      if (opened.isEmpty()) {
        openFile();
        append();
      }
      spill();
      free();
      killAt(stage);
      assertContent();
      append();
      assertContent();
    }
  }

  @Test
  void aKillAtAnyStageLosesNothingOfOneWithoutASlot() throws Exception {
    for (MoveStage stage :
        List.of(MoveStage.UNSPILL_TAGGED, MoveStage.UNSPILL_STARTED, MoveStage.UNSPILL_DONE)) {
      file = fixture.segment(stage.name().toLowerCase(Locale.ROOT) + "-0", 0);
      expected.reset();
      fill();
      openFile();
      append();
      free();
      killAt(stage);
      assertContent();
      append();
      assertContent();
    }
  }

  /** The pool has nothing that the file lacks: a tag that is lost then loses nothing. */
  @Test
  void aTagIsLostWhileThePoolHasNothing() throws Exception {
    fill();
    openFile();
    append();
    free();
    List<TierFixture> killed = new ArrayList<>();
    Path target = Files.createDirectory(directory.resolve("killed"));
    fixture.at(MoveStage.UNSPILL_STARTED, () -> killed.add(fixture.copyTo(target)));
    MoveResult unused = fixture.goOn(file);
    assertThat(killed).hasSize(1);
    channel().close();
    otherChannel.close();
    fixture.close();
    file = target.toRealPath().resolve(fixture.root.relativize(file));
    other = target.toRealPath().resolve(fixture.root.relativize(other));
    assertThat(SegmentTag.remove(file)).isTrue();
    fixture = killed.get(0);
    fixture.open();
    openFile();
    otherChannel = fixture.tier().open(other, TierFixture.KAFKA).orElseThrow();
    assertContent();
    append();
    assertContent();
  }

  private void killAt(MoveStage stage) throws Exception {
    List<TierFixture> killed = new ArrayList<>();
    Path target = Files.createDirectory(directory.resolve("killed-" + stage));
    fixture.at(stage, () -> killed.add(fixture.copyTo(target)));
    MoveResult unused = fixture.goOn(file);
    assertThat(killed).as(stage.toString()).hasSize(1);
    channel().close();
    otherChannel.close();
    fixture.close();
    file = target.toRealPath().resolve(fixture.root.relativize(file));
    other = target.toRealPath().resolve(fixture.root.relativize(other));
    fixture = killed.get(0);
    fixture.open();
    openFile();
    otherChannel = fixture.tier().open(other, TierFixture.KAFKA).orElseThrow();
  }

  /** What the log file has is less than the slot's first offset then. */
  @Test
  void aTruncationWhileItGetsASlot() throws Exception {
    fill();
    openFile();
    int kept = append();
    append();
    free();
    byte[] first = Arrays.copyOf(expected.toByteArray(), kept);
    List<TierFixture> killed = new ArrayList<>();
    Path target = Files.createDirectory(directory.resolve("killed"));
    fixture.at(
        MoveStage.UNSPILL_TAGGED,
        () -> {
          FileChannel unused = channel().truncate(kept);
          killed.add(fixture.copyTo(target));
        });
    MoveResult unused = fixture.goOn(file);
    expected.reset();
    expected.writeBytes(first);
    assertContent();
    assertThat(fixture.view(file).tier()).isEqualTo(1);
    append();
    assertContent();
    expected.reset();
    expected.writeBytes(first);
    file = target.toRealPath().resolve(fixture.root.relativize(file));
    channel().close();
    otherChannel.close();
    fixture.close();
    fixture = killed.get(0);
    fixture.open();
    assertContent();
  }

  @Test
  void aTruncationBelowWhereItGoesOn() throws Exception {
    openFile();
    int kept = append();
    spill();
    free();
    assertDone(fixture.goOn(file));
    append();
    FileChannel unused = channel().truncate(kept);
    byte[] first = Arrays.copyOf(expected.toByteArray(), kept);
    expected.reset();
    expected.writeBytes(first);
    assertContent();
    append();
    reopen();
    assertContent();
  }
}
