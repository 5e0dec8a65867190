package io.strata.kafka.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.crash.SimWorld.End;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.segment.view.SegmentTag;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the simulation has found, as small as it goes: each is cut at every point, by several power
 * cuts, and by a kill with a power cut after the recovery from it.
 */
final class CrashCasesTest {

  private static final Setup ONE_TIER = Setup.ALL.get(0);
  private static final Setup TWO_TIERS = Setup.ALL.get(1);
  private static final Setup SMALL = ONE_TIER.with(Setup.PoolSize.SMALL);
  private static final int LOSSES = 6;
  private static final int MANY_LOSSES = 100;

  private interface Scenario {
    void run(SimWorld world) throws IOException, InterruptedException;
  }

  private static void everywhere(Setup setup, Scenario scenario)
      throws IOException, InterruptedException {
    SimWorld world = SimWorld.create(setup);
    Files.createDirectory(world.disk.getPath("/logs/orders-0"));
    world.points(
        point -> {
          crash(world, point);
          return true;
        });
    world.open();
    scenario.run(world);
    crash(world, Point.PERSIST);
    world.verify();
    world.verifyAccounts();
  }

  private static void crash(SimWorld world, Point point) {
    try {
      for (int i = 0; i < LOSSES; i++) {
        world.crash(End.POWER_CUT, new Loss(i)).recover();
        SimWorld killed = world.crash(End.KILL, new Loss(i));
        killed.recover();
        killed.adopt(End.KILL);
        for (Expected segment : killed.segments.values()) {
          if (segment.state == Expected.State.LIVE) {
            killed.append(segment, SimBatches.of(5_000, i));
          }
        }
        killed.crash(End.POWER_CUT, new Loss(i)).recover();
      }
    } catch (IOException e) {
      throw new AssertionError("before " + point + ": " + e, e);
    }
  }

  private static SimWorld opened() throws IOException {
    return opened(ONE_TIER);
  }

  /** One partition, whose directory is durable. */
  private static SimWorld opened(Setup setup) throws IOException {
    SimWorld world = SimWorld.create(setup);
    Files.createDirectory(world.disk.getPath("/logs/orders-0"));
    SimWorld.force(world.disk.getPath("/logs"));
    world.open();
    return world;
  }

  /** Many power cuts at this moment. */
  private static void cutPower(SimWorld world) throws IOException {
    for (int i = 0; i < MANY_LOSSES; i++) {
      world.crash(End.POWER_CUT, new Loss(i)).recover();
    }
  }

  /** What a killed process leaves, opened. */
  private static SimWorld killed(SimWorld world) throws IOException {
    SimWorld killed = world.crash(End.KILL, new Loss(0));
    killed.recover();
    killed.adopt(End.KILL);
    return killed;
  }

  private static void appendTo(SimWorld world, long offset) throws IOException {
    world.append(Objects.requireNonNull(world.segments.get(offset)), SimBatches.of(1_000, 1));
  }

  private static Expected segment(SimWorld world, int length) throws IOException {
    Expected segment = world.create("orders-0");
    if (length > 0) {
      world.append(segment, SimBatches.of(length, segment.offset));
    }
    return segment;
  }

  /** The newest one of its partition, and evicted. */
  private static Expected inLogFile(SimWorld world) throws IOException, InterruptedException {
    Expected segment = segment(world, 2_000);
    Expected active = segment(world, 100);
    world.background().runAll();
    TieredSegments tiers = world.openTier().segments();
    done(tiers.destage(view(world, segment).id(), 1, MoveControl.UNLIMITED));
    done(tiers.evict(view(world, segment).id()));
    world.background().runAll();
    world.delete(active);
    world.closeChannel(active);
    world.background().runAll();
    return segment;
  }

  private static SegmentView view(SimWorld world, Expected segment) {
    return world.openTier().segments().state().segments().stream()
        .filter(view -> view.name().id().baseOffset() == segment.offset)
        .findAny()
        .orElseThrow();
  }

  private static boolean isEmpty(Path file) {
    try {
      return Files.size(file) == 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void done(MoveResult result) {
    assertThat(result.outcome()).as(result.reason()).isEqualTo(MoveResult.Outcome.DONE);
  }

  /** What a killed process stored and did not persist was built upon, and lost afterwards. */
  @Test
  void storesOfAKilledProcessArePersisted() throws Exception {
    everywhere(
        ONE_TIER,
        world -> {
          Expected segment = segment(world, 2_000);
          world.append(segment, SimBatches.of(70_000, 5));
        });
  }

  /** The process has no descriptor left for a moment. */
  @Test
  void aDeletionThatCannotBeForcedNowIsForcedLater() throws Exception {
    SimWorld world = opened();
    int free = world.openTier().segments().state().tiers().get(0).freeSlots();
    Expected segment = segment(world, 2_000);
    world.background().runAll();
    world.delete(segment);
    world.closeChannel(segment);
    AtomicLong refused = new AtomicLong();
    world.calls(
        (call, on, bytes) -> {
          if (call == Call.OPEN && on.equals("/logs/orders-0") && refused.getAndIncrement() == 0) {
            throw new FileSystemException(on, null, "Too many open files");
          }
          return bytes;
        });
    world.background().runAll();
    assertThat(refused).hasPositiveValue();
    assertThat(world.openTier().segments().state().tiers().get(0).freeSlots()).isEqualTo(free);
    cutPower(world);
  }

  /** The slot was freed, and the unlinked log file came back with the power. */
  @Test
  void anUnlinkingIsForcedThoughTheDirectoryHasAnotherName() throws Exception {
    everywhere(
        ONE_TIER,
        world -> {
          Expected segment = segment(world, 2_000);
          world.background().runAll();
          world.rename(segment, "orders-0", segment.file + ".deleted");
          world.delete(segment);
          world.closeChannel(segment);
          world.renameDirectory("orders-0", "orders-0.0123456789abcdef0123456789abcdef-delete");
          world.background().runAll();
        });
  }

  /**
   * The topic was excluded when the first segments were made, or what spills is not forced: a power
   * cut took records in the midst of the log.
   */
  @Test
  void aPoolDoesNotGetAheadOfTheLogFilesBefore() throws Exception {
    SimWorld world = opened();
    world.writePastTheTier("orders-0", SimBatches.of(20_000, 1));
    world.writePastTheTier("orders-0", SimBatches.of(70_000, 2));
    Expected unused = segment(world, 2_000);
    cutPower(world);
  }

  /** A tag that an eviction had removed came back onto a log file that had been emptied since. */
  @Test
  void aTagDoesNotComeBackOntoAnEmptyLogFile() throws Exception {
    everywhere(
        ONE_TIER,
        world -> {
          Expected segment = segment(world, 2_000);
          Expected active = segment(world, 100);
          world.background().runAll();
          TieredSegments tiers = world.openTier().segments();
          done(tiers.destage(view(world, segment).id(), 1, MoveControl.UNLIMITED));
          done(tiers.evict(view(world, segment).id()));
          world.delete(active);
          world.closeChannel(active);
          world.truncate(segment, 0);
        });
  }

  /** A killed drain had removed the tag, which no power cut knew; the next broker truncated. */
  @Test
  void theTagOfAKilledDrainDoesNotComeBackOntoAShorterLogFile() throws Exception {
    SimWorld world = opened();
    long first = segment(world, 2_000).offset;
    long newest = segment(world, 100).offset;
    world.background().runAll();
    List<SimWorld> cut = new ArrayList<>();
    world.points(
        point -> {
          cut.add(world.crash(End.KILL, new Loss(0)));
          return true;
        });
    world.drain();
    for (SimWorld killed : cut) {
      killed.recover();
      killed.adopt(End.KILL);
      killed.delete(Objects.requireNonNull(killed.segments.get(newest)));
      killed.points(
          point -> {
            cutPowerOrFail(killed);
            return true;
          });
      killed.truncate(Objects.requireNonNull(killed.segments.get(first)), 0);
    }
  }

  /** A killed broker's last batch is torn in the log file, and Kafka has not cut it yet. */
  @ParameterizedTest
  @ValueSource(ints = {0, 2, 3})
  void aKilledDrainOfASegmentWithATornEndGoesOn(int setup) throws Exception {
    SimWorld world = opened(Setup.ALL.get(setup).with(Setup.PoolSize.SMALL));
    Expected segment = segment(world, 50_000);
    while (!view(world, segment).spilled()) {
      world.append(segment, SimBatches.of(30_000, 2));
    }
    world.append(segment, Arrays.copyOf(SimBatches.of(30_000, 3), 20_000));
    world.background().runAll();
    List<SimWorld> cut = new ArrayList<>();
    world.points(
        point -> {
          cut.add(world.crash(End.KILL, new Loss(0)));
          cut.add(world.crash(End.POWER_CUT, new Loss(cut.size())));
          return true;
        });
    world.drain();
    assertThat(cut).isNotEmpty();
    for (SimWorld killed : cut) {
      killed.drain();
    }
  }

  /** What the log file had beyond an empty segment was found as a plain file. */
  @Test
  void anEmptySegmentThatWasRelocatedIsEvicted() throws Exception {
    everywhere(
        TWO_TIERS,
        world -> {
          Expected segment = segment(world, 2_000);
          Expected active = segment(world, 100);
          world.background().runAll();
          TieredSegments tiers = world.openTier().segments();
          done(tiers.destage(view(world, segment).id(), 2, MoveControl.UNLIMITED));
          done(tiers.evict(view(world, segment).id()));
          done(tiers.promote(view(world, segment).id(), 1, MoveControl.UNLIMITED));
          world.truncate(segment, 0);
          done(tiers.promote(view(world, segment).id(), 0, MoveControl.UNLIMITED));
          assertThat(view(world, segment).clean()).isTrue();
          done(tiers.evict(view(world, segment).id()));
          world.delete(active);
          world.closeChannel(active);
        });
  }

  /** The slot that a segment had left was freed, and the tag that named it came back. */
  @Test
  void theTagOfAKilledRelocationIsDurableBeforeASlotIsFreed() throws Exception {
    SimWorld world = opened(TWO_TIERS);
    Expected segment = segment(world, 2_000);
    Expected active = segment(world, 100);
    world.background().runAll();
    List<SimWorld> killed = new ArrayList<>();
    world.points(
        point -> {
          killed.add(world.crash(End.KILL, new Loss(0)));
          return true;
        });
    done(world.openTier().segments().destage(view(world, segment).id(), 1, MoveControl.UNLIMITED));
    assertThat(killed).isNotEmpty();
    assertThat(active.offset).isGreaterThan(segment.offset);
    for (SimWorld each : killed) {
      each.points(
          point -> {
            cutPowerOrFail(each);
            return true;
          });
      each.open();
    }
  }

  private static void cutPowerOrFail(SimWorld world) {
    try {
      for (int i = 0; i < LOSSES; i++) {
        world.crash(End.POWER_CUT, new Loss(i)).recover();
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** A killed process had renamed a segment; a new one beside it was durable before that was. */
  @Test
  void whatAKilledProcessRenamedIsDurableBeforeANewSegment() throws Exception {
    SimWorld world = opened();
    Expected old = segment(world, 2_000);
    world.background().runAll();
    world.rename(old, "orders-0", old.file + ".deleted");
    SimWorld killed = killed(world);
    Expected unused = segment(killed, 1_000);
    cutPower(killed);
  }

  /**
   * A process was killed while it truncated the log file to nothing; the empty file was placed in a
   * pool.
   */
  @Test
  void whatIsPlacedThoughItWasThereIsDurablyEmpty() throws Exception {
    SimWorld world = opened();
    Expected segment = inLogFile(world);
    List<SimWorld> cut = new ArrayList<>();
    world.points(
        point -> {
          if (point == Point.FILE_FORCE && isEmpty(world.path(segment))) {
            cut.add(world.crash(End.KILL, new Loss(0)));
          }
          return true;
        });
    world.truncate(segment, 0);
    assertThat(cut).isNotEmpty();
    for (SimWorld killed : cut) {
      killed.recover();
      killed.adopt(End.KILL);
      appendTo(killed, segment.offset);
      cutPower(killed);
    }
  }

  /**
   * Its part in the pool was copied while it was appended to; Kafka has rolled it, and flushes it
   * later. Without its slot a start would take the file with a torn end for an older copy.
   */
  @ParameterizedTest
  @ValueSource(ints = {0, 2, 3})
  void aSpilledSegmentKeepsItsSlotUntilItsEndIsForced(int setup) throws Exception {
    SimWorld world = opened(Setup.ALL.get(setup).with(Setup.PoolSize.SMALL));
    Files.createDirectory(world.disk.getPath("/logs/orders-1"));
    Expected segment = segment(world, 50_000);
    Expected full = world.create("orders-1");
    while (!view(world, full).spilled()) {
      world.append(full, SimBatches.of(30_000, 2));
    }
    while (!view(world, segment).spilled()) {
      world.append(segment, SimBatches.of(10_000, 3));
    }
    world.background().runAll();
    TieredSegments tiers = world.openTier().segments();
    int disk = tiers.state().tiers().size();
    while (view(world, segment).dirtyBytes() > 0) {
      done(tiers.destage(view(world, segment).id(), disk, MoveControl.UNLIMITED));
    }
    world.flush(segment);
    for (int i = 0; i < 3; i++) {
      world.append(segment, SimBatches.of(10_000, 5 + i));
    }
    Expected unused = segment(world, 1_000);
    // Not where its end has to be forced first.
    MoveResult unusedResult = tiers.evict(view(world, segment).id());
    cutPower(world);

    world.background().runAll();
    if (view(world, segment).tier() != disk) {
      // That look had its end forced.
      world.background().runAll();
      done(tiers.evict(view(world, segment).id()));
    }
    assertThat(view(world, segment).tier()).isEqualTo(disk);
    cutPower(world);
  }

  /**
   * The disk has told the copy that what has spilled could not be written, and tells nobody else
   * who opens the file from then on: Kafka's descriptor, which is older, must be forced.
   */
  @Test
  void aForceThatFailedInACopyLeavesTheNextFlushToTheDisk() throws Exception {
    SimWorld world = opened(Setup.ALL.get(2).with(Setup.PoolSize.SMALL));
    Expected segment = segment(world, 50_000);
    while (!view(world, segment).spilled()) {
      world.append(segment, SimBatches.of(30_000, segment.content.length));
    }
    world.background().runAll();
    world.append(segment, SimBatches.of(10_000, 3));
    TieredSegments tiers = world.openTier().segments();
    long id = view(world, segment).id();
    AtomicLong forces = new AtomicLong();
    String file = world.path(segment).toString();
    world.calls(
        (call, on, bytes) -> {
          if (call == Call.FILE_FORCE && on.equals(file) && forces.getAndIncrement() == 0) {
            throw new IOException("Input/output error");
          }
          return bytes;
        });
    assertThatThrownBy(() -> tiers.destage(id, 1, MoveControl.UNLIMITED))
        .hasMessageContaining("Input/output error");
    assertThat(forces).hasValue(1);
    try {
      MoveResult unused = tiers.destage(id, 1, MoveControl.UNLIMITED);
    } catch (IOException again) {
      assertThat(again).hasMessageContaining("Input/output error");
    }
    long before = forces.get();
    world.flush(segment);
    assertThat(forces.get()).isGreaterThan(before);
  }

  /**
   * Kafka truncates a segment while the tag of a slot that it is about to get is forced. The slot
   * must not be free before the tag is gone for good: a start would take the file for an older
   * copy.
   */
  @ParameterizedTest
  @ValueSource(ints = {0, 2})
  void aSegmentThatIsTruncatedOnItsWayIntoASlotKeepsNoTagOfIt(int setup) throws Exception {
    SimWorld world = opened(Setup.ALL.get(setup).with(Setup.PoolSize.SMALL));
    Files.createDirectory(world.disk.getPath("/logs/others-0"));
    SimWorld.force(world.disk.getPath("/logs"));
    Expected other = world.create("others-0");
    while (!view(world, other).spilled()) {
      world.append(other, SimBatches.of(58_000, other.content.length));
    }
    Expected segment = segment(world, 30_000);
    assertThat(view(world, segment).tier()).isPositive();
    world.truncate(other, 0);
    AtomicLong truncations = new AtomicLong();
    world.points(
        point -> {
          if (point == Point.FILE_FORCE
              && hasTag(world.path(segment))
              && truncations.getAndIncrement() == 0) {
            truncate(world, segment);
          }
          return true;
        });
    assertThat(
            world
                .openTier()
                .segments()
                .goOn(view(world, segment).id(), 0, MoveControl.UNLIMITED)
                .outcome())
        .isEqualTo(MoveResult.Outcome.CANCELLED);
    assertThat(truncations).hasPositiveValue();
    world.points(Points.NONE);
    cutPower(world);
  }

  /**
   * A truncation removes the tag of a slot that the segment left long ago; meanwhile the segment is
   * evicted from the slot that it has got since, whose tag goes before the truncation, too.
   */
  @Test
  void anEvictionWhileAnOlderTagIsRemovedLeavesNone() throws Exception {
    SimWorld world = opened();
    Expected segment = segment(world, 2_000);
    Expected active = segment(world, 100);
    world.background().runAll();
    TieredSegments tiers = world.openTier().segments();
    long id = view(world, segment).id();
    done(tiers.destage(id, 1, MoveControl.UNLIMITED));
    done(tiers.evict(id));
    done(tiers.promote(id, 0, MoveControl.UNLIMITED));
    world.delete(active);
    world.closeChannel(active);
    AtomicLong evictions = new AtomicLong();
    world.points(
        point -> {
          if (point == Point.FILE_FORCE && evictions.getAndIncrement() == 0) {
            evict(world, id);
          }
          return true;
        });
    world.truncate(segment, SimBatches.boundary(segment.content, 1_000));
    world.points(Points.NONE);
    assertThat(evictions).hasPositiveValue();
    assertThat(hasTag(world.path(segment))).isFalse();
    SimWorld unused = killed(world);
  }

  private static void evict(SimWorld world, long id) {
    try {
      assertThat(world.openTier().evict(id)).isTrue();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean hasTag(Path file) {
    try {
      return SegmentTag.read(file).isPresent();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void truncate(SimWorld world, Expected segment) {
    try {
      world.truncate(segment, SimBatches.boundary(segment.content, 10_000));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The broker was killed while a compaction put its output in a segment's place. Kafka ends that
   * past the provider when it loads the logs. What it keeps may be how the segment began, or
   * nothing.
   */
  @ParameterizedTest
  @CsvSource({"0, 3000", "0, 0", "2, 3000", "2, 0"})
  void whatACompactionPutInASegmentsPlaceIsNoSegmentWithoutItsTag(int setup, int kept)
      throws Exception {
    SimWorld world = opened(Setup.ALL.get(setup).with(Setup.PoolSize.SMALL));
    Expected segment = segment(world, 3_000);
    byte[] output = kept == 0 ? new byte[0] : SimBatches.of(3_000, segment.offset);
    world.append(segment, SimBatches.of(2_000, 2));
    Expected unused = segment(world, 4_000);
    world.background().runAll();
    Path swap = swapOf(world.path(segment));
    Path unusedPath = Files.write(swap, output);
    SimWorld.force(swap);
    SimWorld.force(Objects.requireNonNull(swap.getParent()));
    SimWorld killed = world.crash(End.KILL, new Loss(0));
    killed.openBeforeLogs();
    Path log = killed.path(segment);
    Files.delete(log);
    Path unusedToo = Files.move(swapOf(log), log);
    killed.openTier().open(log).close();
    killed.openTier().logsLoaded();
    for (int i = 0; i < LOSSES; i++) {
      killed.crash(End.POWER_CUT, new Loss(i)).open();
    }
    killed.background().runAll();
    killed.close();
    for (int starts = 0; starts < 3; starts++) {
      killed.open();
      assertThat(killed.openTier().open(log).size()).isEqualTo(output.length);
      killed.close();
    }
  }

  private static Path swapOf(Path log) {
    return log.resolveSibling(log.getFileName() + ".swap");
  }

  /** Kafka opens a new segment, renames the old one away, and only then appends. */
  @Test
  void whatIsRenamedAfterANewSegmentIsDurableBeforeItsRecords() throws Exception {
    SimWorld world = opened();
    Expected old = segment(world, 2_000);
    world.background().runAll();
    Expected fresh = segment(world, 0);
    world.rename(old, "orders-0", old.file + ".deleted");
    world.append(fresh, SimBatches.of(1_000, 1));
    cutPower(world);
  }

  /** A killed process had renamed a later segment; the next one appends to the one before. */
  @Test
  void whatAKilledProcessRenamedIsDurableBeforeAnAppend() throws Exception {
    SimWorld world = opened();
    Expected kept = segment(world, 2_000);
    Expected later = segment(world, 2_000);
    world.background().runAll();
    world.rename(later, "orders-0", later.file + ".deleted");
    SimWorld killed = killed(world);
    appendTo(killed, kept.offset);
    cutPower(killed);
  }

  /**
   * What was durable in a pool is so in the replica that takes its place, which was in the log
   * file.
   */
  @Test
  void aReplicaThatMovedBetweenLogDirectoriesIsDurable() throws Exception {
    SimWorld world = opened();
    Expected old = segment(world, 2_000);
    world.background().runAll();
    Files.createDirectory(world.disk.getPath("/logs/orders-0.1-future"));
    Expected moved = world.create("orders-0.1-future");
    world.append(moved, SimBatches.of(2_000, moved.offset));
    world.renameDirectory("orders-0", "orders-0.2-delete");
    world.renameDirectory("orders-0.1-future", "orders-0");
    world.delete(old);
    cutPower(world);
  }

  /** Killed before it was forced; the producer repeats, and Kafka finds that it has it already. */
  @Test
  void whatAKilledProcessWroteInLogFileIsDurableAfterTheStart() throws Exception {
    SimWorld world = opened();
    Expected segment = inLogFile(world);
    List<SimWorld> cut = new ArrayList<>();
    world.points(
        point -> {
          if (point == Point.FILE_FORCE) {
            cut.add(world.crash(End.KILL, new Loss(0)));
          }
          return true;
        });
    appendTo(world, segment.offset);
    assertThat(cut).isNotEmpty();
    for (SimWorld killed : cut) {
      killed.recover();
      killed.adopt(End.KILL);
      cutPower(killed);
    }
  }

  /** Killed before that was forced; the next process flushes what it finds, which is nothing. */
  @Test
  void whatAKilledProcessCutToNothingInLogFileIsForcedByAFlush() throws Exception {
    SimWorld world = opened();
    String future = "orders-0.1-future";
    Files.createDirectory(world.disk.getPath("/logs/" + future));
    Expected segment = world.create(future);
    world.append(segment, SimBatches.of(2_000, segment.offset));
    world.flush(segment);
    Expected newer = world.create(future);
    world.append(newer, SimBatches.of(100, newer.offset));
    List<SimWorld> cut = new ArrayList<>();
    world.points(
        point -> {
          cut.add(world.crash(End.KILL, new Loss(0)));
          return true;
        });
    world.truncate(segment, 0);
    assertThat(cut).isNotEmpty();
    for (SimWorld killed : cut) {
      killed.recover();
      killed.adopt(End.KILL);
      cutPower(killed);
    }
  }

  /** A machine whose pool has no slot free: what comes next begins in the log directory. */
  private static SimWorld withoutSlot() throws IOException {
    SimWorld world = opened(SMALL);
    while (world.openTier().segments().state().tiers().get(0).freeSlots() > 0) {
      Expected unused = segment(world, 100);
    }
    return world;
  }

  private static long forcesOfDirectories(SimWorld world, Expected segment) throws IOException {
    AtomicLong forces = new AtomicLong();
    world.points(
        point -> {
          forces.addAndGet(point == Point.DIRECTORY_FORCE ? 1 : 0);
          return true;
        });
    world.append(segment, SimBatches.of(2_000, forces.get()));
    world.points(Points.NONE);
    return forces.get();
  }

  /** Its file was forced, the directory was not: the record was acknowledged, the file was gone. */
  @Test
  void aSegmentThatBeginsInTheLogDirectoryHasADurableName() throws Exception {
    SimWorld world = withoutSlot();
    Expected segment = segment(world, 2_000);
    assertThat(world.openTier().isHot(world.path(segment))).isFalse();
    cutPower(world);
  }

  @Test
  void aSegmentThatBeginsInANewPartitionsDirectoryHasADurableName() throws Exception {
    SimWorld world = withoutSlot();
    Files.createDirectory(world.disk.getPath("/logs/orders-1"));
    Expected segment = world.create("orders-1");
    world.append(segment, SimBatches.of(2_000, 1));
    cutPower(world);
  }

  /** The pool restored the head, and the tail's file was gone. */
  @Test
  void aSegmentThatSpillsHasADurableName() throws Exception {
    SimWorld world = opened(SMALL);
    Expected segment = world.create("orders-0");
    while (!view(world, segment).spilled()) {
      world.append(segment, SimBatches.of(58_000, segment.content.length));
    }
    cutPower(world);
  }

  /** Its bytes had reached the disk, and the tag had not: the start was refused. */
  @Test
  void aSegmentThatSpillsHasADurableTag() throws Exception {
    for (Setup setup : List.of(SMALL, Setup.ALL.get(2).with(Setup.PoolSize.SMALL))) {
      SimWorld world = opened(setup);
      Expected segment = world.create("orders-0");
      SimWorld.force(world.disk.getPath("/logs/orders-0"));
      world.points(
          point -> {
            if (point == Point.FILE_FORCE || point == Point.DIRECTORY_FORCE) {
              crash(world, point);
            }
            return true;
          });
      while (!view(world, segment).spilled()) {
        world.append(segment, SimBatches.of(58_000, segment.content.length));
      }
      cutPower(world);
    }
  }

  /** A crash before each step; and with or without a slot from before. */
  @ParameterizedTest
  @CsvSource({"0,true", "2,true", "6,true", "7,true", "0,false", "2,false"})
  void aSegmentGoesOnInItsPoolAtOnceWhereverACrashComes(int setup, boolean hasSlot)
      throws Exception {
    SimWorld world = opened(Setup.ALL.get(setup).with(Setup.PoolSize.SMALL));
    Files.createDirectory(world.disk.getPath("/logs/others-0"));
    SimWorld.force(world.disk.getPath("/logs"));
    Expected segment = hasSlot ? segment(world, 30_000) : null;
    Expected other = world.create("others-0");
    while (!view(world, other).spilled()) {
      world.append(other, SimBatches.of(58_000, other.content.length));
    }
    if (segment == null) {
      segment = segment(world, 30_000);
    }
    while (hasSlot && !view(world, segment).spilled()) {
      world.append(segment, SimBatches.of(58_000, segment.content.length));
    }
    TieredSegments tiers = world.openTier().segments();
    int disk = tiers.state().tiers().size();
    if (hasSlot) {
      done(tiers.destage(view(world, segment).id(), disk, MoveControl.UNLIMITED));
    }
    assertThat(view(world, segment).tier()).isEqualTo(hasSlot ? 0 : disk);
    world.append(segment, SimBatches.of(3_000, segment.content.length));
    world.truncate(other, 0);
    Expected appended = segment;
    AtomicLong forces = new AtomicLong();
    world.points(
        point -> {
          if (point == Point.FILE_FORCE && forces.getAndIncrement() == 0) {
            // After the engine has looked how long the log file is.
            append(world, appended);
          }
          crash(world, point);
          return true;
        });
    done(tiers.goOn(view(world, segment).id(), 0, MoveControl.UNLIMITED));
    assertThat(view(world, segment).spilled()).isFalse();
    world.append(segment, SimBatches.of(3_000, segment.content.length));
    world.truncate(segment, SimBatches.boundary(segment.content, 10_000));
    world.append(segment, SimBatches.of(3_000, segment.content.length));
    world.points(Points.NONE);
    cutPower(world);
  }

  private static void append(SimWorld world, Expected segment) {
    try {
      world.append(segment, SimBatches.of(3_000, segment.content.length));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aNameIsForcedOnce() throws Exception {
    SimWorld world = withoutSlot();
    Expected segment = segment(world, 0);
    assertThat(forcesOfDirectories(world, segment)).isPositive();
    assertThat(forcesOfDirectories(world, segment)).isZero();
    world.rename(segment, "orders-0", segment.file + ".swap");
    world.rename(segment, "orders-0", segment.file.replace(".swap", ""));
    assertThat(forcesOfDirectories(world, segment)).isPositive();
    assertThat(forcesOfDirectories(world, segment)).isZero();
    cutPower(world);
  }

  /** The next process had the batch, which Kafka acknowledges to a producer that repeats it. */
  @Test
  void aNameThatAKilledProcessDidNotForceIsDurableAfterTheStart() throws Exception {
    SimWorld world = withoutSlot();
    Files.createDirectory(world.disk.getPath("/logs/orders-1"));
    Expected segment = world.create("orders-1");
    List<SimWorld> cut = new ArrayList<>();
    world.points(
        point -> {
          if (point == Point.DIRECTORY_FORCE || point == Point.FILE_FORCE) {
            cut.add(world.crash(End.KILL, new Loss(0)));
          }
          return true;
        });
    world.append(segment, SimBatches.of(2_000, 1));
    assertThat(cut).hasSizeGreaterThan(2);
    for (SimWorld killed : cut) {
      killed.recover();
      killed.adopt(End.KILL);
      cutPower(killed);
    }
  }

  /**
   * Compaction's output takes a segment's place, and the segment is deleted at once
   * (file.delete.delay.ms=0): the pool had the deletion, the file system not yet the renames.
   */
  @Test
  void whatCompactionWroteIsDurableBeforeWhatItReplacesIsDeleted() throws Exception {
    SimWorld world = opened();
    Expected old = segment(world, 2_000);
    world.background().runAll();
    Path log = world.path(old);
    Path cleaned = log.resolveSibling(old.file + ".cleaned");
    Files.write(cleaned, SimBatches.of(1_000, 1));
    SimWorld.force(cleaned);
    Path swap = log.resolveSibling(old.file + ".swap");
    world.openTier().move(cleaned, swap);
    Path deleted = log.resolveSibling(old.file + ".deleted");
    world.openTier().move(log, deleted);
    List<SimWorld> cut = new ArrayList<>();
    world.points(
        point -> {
          for (int i = 0; i < MANY_LOSSES; i++) {
            cut.add(world.crash(End.POWER_CUT, new Loss(i)));
          }
          return true;
        });
    assertThat(world.openTier().delete(deleted)).isTrue();
    world.openTier().move(swap, log);
    for (SimWorld left : cut) {
      left.open();
      // Kafka discards what is called .cleaned, and completes what is called .swap.
      assertThat(
              Stream.of(log, swap, deleted)
                  .map(file -> left.disk.getPath(file.toString()))
                  .anyMatch(Files::exists))
          .isTrue();
    }
  }
}
