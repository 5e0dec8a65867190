package io.strata.kafka.tier.offline;

import static io.strata.kafka.tier.TierFixture.assertDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.Batches;
import io.strata.kafka.tier.HotTier;
import io.strata.kafka.tier.TierFixture;
import io.strata.kafka.tier.offline.AcceptedLoss.Loss;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is left of partitions whose pool is lost, and what is said of the rest. */
final class AcceptedLossTest {

  private static final long MIB = 1 << 20;
  private static final int LOG_FILE = 1;
  private static final byte[] OLD = Batches.of(700_000, 1);
  private static final byte[] NEW = Batches.of(100_000, 2);

  @TempDir private Path directory;
  private TierFixture fixture;
  private Path old;

  @BeforeEach
  void losePool() throws Exception {
    fixture = new TierFixture(Files.createDirectory(directory.resolve("live")));
    fixture.pool("hot.pool", 16 * MIB);
    fixture.open();
    old = fixture.segment("orders-0", 0);
    fixture.append(old, OLD);
    fixture.append(fixture.segment("orders-0", 1000), NEW);
    fixture.append(fixture.segment("audit-3", 50), NEW);
    assertDone(fixture.destage(old, LOG_FILE));
    fixture.append(old, Arrays.copyOf(NEW, NEW.length));
    fixture.close();
    Files.delete(fixture.pools.remove(0));
    fixture.pool("new.pool", 16 * MIB);
  }

  @AfterEach
  void close() throws IOException {
    fixture.close();
  }

  private AcceptedLoss.Plan plan() throws IOException {
    return AcceptedLoss.plan(fixture.logDirectories, (directory, logFile) -> true);
  }

  private long nextOffset() throws IOException {
    try (FileRecords records = FileRecords.open(old.toFile(), false)) {
      long next = 0;
      for (RecordBatch batch : records.batches()) {
        next = batch.nextOffset();
      }
      return next;
    }
  }

  @Test
  void namesTheFirstOffsetThatMayBeMissing() throws IOException {
    assertThat(plan().lacking())
        .extracting(Loss::topic, Loss::partition, Loss::firstSegment, Loss::fromOffset)
        .containsExactly(
            Tuple.tuple("audit", 3, OptionalLong.of(50), 50L),
            Tuple.tuple("orders", 0, OptionalLong.of(0), nextOffset()));
    assertThat(nextOffset()).isGreaterThan(10);
  }

  @Test
  void aSegmentThatEndsWhereTheNextOneBeginsLacksNothing() throws IOException {
    Path next = fixture.segment("orders-0", nextOffset());
    Files.move(fixture.segment("orders-0", 1000), next);
    assertThat(plan().lacking())
        .filteredOn(loss -> loss.topic().equals("orders"))
        .extracting(Loss::firstSegment, Loss::fromOffset)
        .containsExactly(Tuple.tuple(OptionalLong.of(nextOffset()), nextOffset()));
  }

  @Test
  void whatTheLogFilesHaveIsServedAgain() throws IOException {
    assertThatThrownBy(fixture::open).hasMessageContaining("accept-loss");
    assertThat(AcceptedLoss.run(plan())).isEmpty();
    fixture.open();
    assertThat(fixture.read(old)).isEqualTo(OLD);
    assertThat(fixture.segment("orders-0", 1000)).as("what comes after a gap").doesNotExist();
    assertThat(plan().losses()).isEmpty();
  }

  /** Kafka deletes nothing behind a segment that ends with a whole batch: it would keep the gap. */
  @Test
  void whatComesAfterTheFirstMissingRecordIsDeleted() throws IOException {
    Path after = Files.write(fixture.segment("orders-0", 2000), NEW);
    Path index = Files.createFile(after.resolveSibling("00000000000000002000.index"));
    Path own = Files.createFile(after.resolveSibling("00000000000000000000.index"));
    Path other = Files.createFile(after.resolveSibling("leader-epoch-checkpoint"));
    assertThat(AcceptedLoss.run(plan())).isEmpty();
    assertThat(after).doesNotExist();
    assertThat(index).doesNotExist();
    assertThat(own).exists();
    assertThat(other).exists();
    assertThat(old).hasBinaryContent(OLD);
  }

  /** As in a compacted topic: segments end before the next one's first offset. */
  @Test
  void ofSegmentsWithGapsBetweenOnlyTheOneLacksRecordsThatWasNotWhole() throws Exception {
    List<Path> segments = compacted("gaps");
    fixture.append(segments.get(2), NEW);
    settle();
    losePool("gaps");

    AcceptedLoss.Plan plan = plan();
    assertThat(plan.lacking())
        .extracting(Loss::firstSegment, Loss::dropped)
        .containsExactly(Tuple.tuple(OptionalLong.of(2000), List.of()));
    assertThat(AcceptedLoss.run(plan)).isEmpty();
    fixture.open();
    for (Path segment : segments.subList(0, 2)) {
      assertThat(fixture.read(segment)).isEqualTo(OLD);
    }
  }

  /** Kafka has truncated the log to the end of a sealed segment, and appended to it. */
  @Test
  void aSealedSegmentThatIsAppendedToAgainIsWholeNoMore() throws Exception {
    List<Path> segments = compacted("again");
    settle();
    fixture.tier().delete(segments.get(2));
    fixture.append(segments.get(1), NEW);
    fixture.append(fixture.segment("orders-0", 3000), NEW);
    settle();
    losePool("again");
    assertThat(plan().lacking())
        .extracting(Loss::firstSegment)
        .containsExactly(OptionalLong.of(1000));
  }

  /** Three segments with gaps between them, of which the first two are destaged. */
  private List<Path> compacted(String name) throws Exception {
    fixture = new TierFixture(Files.createDirectory(directory.resolve(name)));
    fixture.pool("hot.pool", 16 * MIB);
    fixture.open();
    List<Path> segments = new ArrayList<>();
    for (long base : List.of(0L, 1000L, 2000L)) {
      segments.add(fixture.segment("orders-0", base));
      fixture.append(segments.get(segments.size() - 1), OLD);
      assertDone(fixture.destage(segments.get(segments.size() - 1), LOG_FILE));
    }
    return segments;
  }

  /** As the engine's next round and what it leaves to the background. */
  private void settle() throws Exception {
    var unused = fixture.tier().tieredSegments().state();
    fixture.awaitBackgroundWork();
  }

  private void losePool(String name) throws Exception {
    fixture.close();
    Files.delete(fixture.pools.remove(0));
    fixture.pool(name + ".new.pool", 16 * MIB);
  }

  /** Where one slot of several was damaged. */
  @Test
  void kafkasStartFreesTheSlotsOfWhatComesAfter() throws Exception {
    fixture = new TierFixture(Files.createDirectory(directory.resolve("damaged")).toRealPath());
    fixture.pool("hot.pool", 16 * MIB);
    fixture.open();
    Path first = fixture.segment("orders-0", 0);
    Path next = fixture.segment("orders-0", 1000);
    fixture.append(first, OLD);
    fixture.append(next, NEW);
    fixture.close();
    try (Pool pool = Pool.open(fixture.pools.get(0), MemoryType.MAPPED, TierFixture.OWNER)) {
      for (Slot slot : pool.slots()) {
        if (fixture.logs().resolve(slot.relativePath()).equals(first)) {
          slot.discard();
        }
      }
    }

    assertThat(
            AcceptedLoss.run(
                AcceptedLoss.plan(
                    fixture.logDirectories, (directory, logFile) -> logFile.file().equals(first))))
        .isEmpty();

    HotTier tier = fixture.open();
    assertThat(tier.recoveryReport().orphaned()).isEmpty();
    assertThat(next).doesNotExist();
    tier.delete(
        next.resolveSibling(next.getFileName() + ".deleted")); // as Kafka does when it starts
    fixture.awaitBackgroundWork();
    assertThat(tier.pools().get(0).slots()).isEmpty();
  }

  @Test
  void filesThatKafkaIsAboutToDeleteAreNoLoss() throws IOException {
    Files.move(old, old.resolveSibling(old.getFileName() + ".deleted"));
    Files.move(
        fixture.segment("orders-0", 1000),
        fixture.segment("orders-0", 1000).resolveSibling("00000000000000001000.log.cleaned"));
    Files.move(
        fixture.logs().resolve("audit-3"),
        fixture.logs().resolve("audit-3.0123456789abcdef0123456789abcdef-delete"));
    assertThat(plan().losses()).isNotEmpty();
    assertThat(plan().lacking()).isEmpty();
    assertThat(AcceptedLoss.run(plan())).isEmpty();
    assertThat(plan().losses()).isEmpty();
  }

  @Test
  void anUnfinishedCompactionEndsTheLogBeforeIt() throws IOException {
    Path swap = fixture.segment("orders-0", 1000).resolveSibling("00000000000000001000.log.swap");
    Files.move(fixture.segment("orders-0", 1000), swap);
    Path original = Files.write(fixture.segment("orders-0", 1000), NEW);
    SegmentTag.remove(old);
    assertThat(AcceptedLoss.run(plan())).isEmpty();
    assertThat(swap).doesNotExist();
    assertThat(original).doesNotExist();
    assertThat(old).hasBinaryContent(OLD);
  }

  /** The tags go last: until then a start refuses, and all can be done again. */
  @Test
  void aCheckpointThatCannotBeReadLeavesTheTags() throws IOException {
    Path points = fixture.logs().resolve("recovery-point-offset-checkpoint");
    for (String text : List.of("1\n0\n", "0\n2\norders 0 7\n", "0\n1\norders 0\n")) {
      Files.writeString(points, text);
      assertThat(AcceptedLoss.run(plan()))
          .singleElement()
          .satisfies(
              failed -> assertThat(failed.reason()).contains(points.toString(), "delete the file"));
      assertThat(points).content().isEqualTo(text);
      assertThat(SegmentTag.read(old)).isPresent();
    }
  }

  @Test
  void aRecoveryPointIsOnlyLowered() throws IOException {
    Path points = fixture.logs().resolve("recovery-point-offset-checkpoint");
    Files.writeString(points, "0\n3\naudit 3 20\norders 0 70\nother 1 9\n");
    assertThat(AcceptedLoss.run(plan())).isEmpty();
    assertThat(points).content().isEqualTo("0\n3\naudit 3 20\norders 0 0\nother 1 9\n");
  }
}
