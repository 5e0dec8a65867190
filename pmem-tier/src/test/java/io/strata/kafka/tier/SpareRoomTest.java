package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.migration.remote.read.ChunkArena;
import io.strata.kafka.migration.remote.read.ChunkArena.Frame;
import io.strata.kafka.migration.remote.read.ChunkKey;
import io.strata.kafka.pool.CacheRegion;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolChecker;
import io.strata.kafka.pool.PoolReader;
import io.strata.kafka.pool.PoolUsage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpareRoomTest {

  private static final long MIB = 1 << 20;
  private static final int CHUNK = 200_000;
  private static final int HOME = 1;

  @TempDir private Path temp;
  private TierFixture fixture;
  private ChunkArena arena;

  @BeforeEach
  void open() throws IOException {
    fixture = new TierFixture(temp).pool("strata.pool", 32 * MIB);
    fixture.open();
    arena = arena(1000 * MIB);
  }

  @AfterEach
  void close() throws IOException {
    arena.close();
    fixture.close();
  }

  private ChunkArena arena(long bytes) {
    return fixture.tier().spareRoom(bytes, CHUNK).orElseThrow();
  }

  private Pool pool() {
    return fixture.tier().pools().get(0);
  }

  private PoolUsage usage() {
    return pool().usage();
  }

  private static ChunkKey key(int number) {
    return new ChunkKey(7, -9, number);
  }

  private static byte[] chunk(int number) {
    byte[] bytes = new byte[CHUNK];
    new Random(number).nextBytes(bytes);
    return bytes;
  }

  private Optional<Frame> store(int number) {
    return arena.store(key(number), ByteBuffer.wrap(chunk(number)));
  }

  private List<Frame> fill() {
    List<Frame> frames = new ArrayList<>();
    for (Optional<Frame> next = store(0); next.isPresent(); next = store(frames.size())) {
      frames.add(next.get());
    }
    return frames;
  }

  private static boolean isWhole(Frame frame) {
    ByteBuffer target = ByteBuffer.allocate(frame.bytes());
    return frame.read(0, target) && Arrays.equals(target.array(), chunk(frame.key().number()));
  }

  private static List<Integer> numbers(List<Frame> frames) {
    return frames.stream().map(frame -> frame.key().number()).toList();
  }

  @Test
  void takesRoomWhileThereIsPlentyAndLeavesAQuarter() throws IOException {
    PoolUsage before = usage();
    assertThat(before.cacheBytes()).isZero();
    List<Frame> frames = fill();
    assertThat(frames).hasSizeGreaterThan(50).allMatch(SpareRoomTest::isWhole);
    PoolUsage after = usage();
    assertThat(after.cacheBytes()).isPositive();
    assertThat(after.freeBytes()).isGreaterThanOrEqualTo(after.roomBytes() / 4);
    assertThat(after.freeSlots()).isGreaterThanOrEqualTo(pool().info().slotCount() / 8);
    assertThat(after.roomBytes()).isEqualTo(before.freeBytes());
    assertThat(after.roomSlots()).isEqualTo(before.freeSlots());
    assertThat(after.usedBytes()).isEqualTo(before.usedBytes());
    assertThat(after.liveSlots()).isEqualTo(before.liveSlots());
    assertThat(arena.usedBytes()).isBetween((long) frames.size() * CHUNK, after.cacheBytes());
  }

  @Test
  void takesNoMoreThanItsBound() {
    arena.close();
    arena = arena(5 * MIB);
    fill();
    assertThat(arena.capacityBytes()).isEqualTo(5 * MIB);
    assertThat(usage().cacheBytes()).isBetween(MIB, 5 * MIB);
  }

  @Test
  void takesFewSlots() throws IOException {
    fixture.close();
    fixture = new TierFixture(Files.createDirectory(temp.resolve("few")));
    fixture.pool("strata.pool", 32 * MIB);
    fixture.open();
    for (int i = 0; i < 56; i++) {
      fixture.append(fixture.segment("many-" + i, 0), new byte[] {1});
    }
    assertThat(usage().freeSlots()).isEqualTo(8);
    arena = arena(1000 * MIB);
    assertThat(fill()).isEmpty();
  }

  @Test
  void isTooNarrowForSomeBounds() {
    arena.close();
    assertThat(fixture.tier().spareRoom(CHUNK, CHUNK)).isEmpty();
    assertThat(fixture.tier().spareRoom(1000 * MIB, (int) (16 * MIB))).isEmpty();
    arena = arena(1000 * MIB);
    assertThat(fixture.tier().spareRoom(1000 * MIB, CHUNK)).as("in use").isEmpty();
  }

  @Test
  void theEngineSeesFreeRoom() throws IOException {
    var before = fixture.tier().tieredSegments().state().tiers().get(0);
    fill();
    assertThat(fixture.tier().tieredSegments().state().tiers().get(0)).isEqualTo(before);
  }

  @Test
  void anAppendGetsRoomBeforeACleanSegmentIsEvicted() throws Exception {
    Path clean = fixture.segment("clean-0", 0);
    byte[] bytes = Batches.of(1_000_000, 1);
    fixture.append(clean, bytes);
    fixture.append(fixture.segment("clean-0", 10_000), new byte[] {1});
    TierFixture.assertDone(fixture.destage(clean, HOME));
    List<Frame> frames = fill();
    Path file = fixture.segment("orders-0", 0);
    byte[] much = TierFixture.bytes((int) (14 * MIB), 3);
    assertThat(usage().freeBytes()).isLessThan(much.length);
    fixture.append(file, much);
    TieredSegment hot =
        fixture.tier().segments().stream()
            .filter(s -> s.home().equals(file))
            .findAny()
            .orElseThrow();
    assertThat(hot.segment().spilled()).isFalse();
    assertThat(fixture.read(file)).isEqualTo(much);
    assertThat(fixture.view(clean).tier()).as("still in the pool").isZero();
    assertThat(frames).anyMatch(Frame::gone);
    for (Frame frame : frames) {
      assertThat(frame.gone() || isWhole(frame)).isTrue();
      assertThat(frame.read(0, ByteBuffer.allocate(10))).isEqualTo(!frame.gone());
    }
  }

  @Test
  void newSegmentsGetAllSlots() throws Exception {
    List<Frame> frames = fill();
    int slots = usage().roomSlots();
    for (int i = 0; i < slots; i++) {
      fixture.append(fixture.segment("many-" + i, 0), new byte[] {1});
    }
    assertThat(fixture.tier().hotSegments()).isEqualTo(slots);
    assertThat(usage().cacheSlots()).isZero();
    assertThat(frames).allMatch(Frame::gone);
  }

  @Test
  void aPromotionGetsRoom() throws Exception {
    Path file = fixture.segment("orders-0", 0);
    fixture.append(file, Batches.of(12_000_000, 1));
    fixture.append(fixture.segment("orders-0", 10_000), new byte[] {1});
    try (var channel = fixture.tier().open(file, TierFixture.KAFKA).orElseThrow()) {
      TierFixture.assertDone(fixture.destage(file, HOME));
      TierFixture.assertDone(fixture.evict(file));
      fill();
      assertThat(usage().freeBytes()).isLessThan(12_000_000);
      TierFixture.assertDone(fixture.promote(file, 0));
      assertThat(channel.size()).isGreaterThan(12_000_000);
    }
  }

  @Test
  void theBackgroundKeepsAQuarterOfTheRoomFree() throws Exception {
    fill();
    fixture.append(
        fixture.segment("orders-0", 0), new byte[(int) (usage().freeBytes() - 9 * MIB / 8)]);
    assertThat(usage().freeBytes()).isLessThan(usage().roomBytes() / 8);
    fixture.tier().spare().trim();
    assertThat(usage().freeBytes()).isGreaterThanOrEqualTo(usage().roomBytes() / 4);
    assertThat(usage().cacheBytes()).isPositive();
  }

  @Test
  void whatIsUsedStaysLongest() {
    List<Frame> frames = fill();
    Frame kept = frames.get(frames.size() / 2);
    while (usage().cacheBytes() > 2 * MIB) {
      assertThat(isWhole(kept)).isTrue();
      int before = usage().cacheSlots();
      fixture.tier().spare().takeBack(pool(), 1, () -> false);
      assertThat(usage().cacheSlots()).isEqualTo(before - 1);
    }
    assertThat(kept.gone()).isFalse();
  }

  @Test
  void chunksAreFoundAfterARestart() throws IOException {
    List<Frame> frames = fill();
    for (int i = 0; i < frames.size(); i += 3) {
      frames.get(i).release();
    }
    List<Integer> expected =
        frames.stream().filter(f -> !f.gone()).map(f -> f.key().number()).toList();
    arena.close();
    fixture.reopen();
    arena = arena(1000 * MIB);
    List<Frame> survivors = arena.survivors();
    assertThat(numbers(survivors)).isEqualTo(expected);
    assertThat(survivors).allMatch(SpareRoomTest::isWhole);
    assertThat(arena.survivors()).isEmpty();
    Frame next = store(1000).orElseThrow();
    assertThat(survivors).allMatch(SpareRoomTest::isWhole);
    assertThat(isWhole(next)).isTrue();
    arena.close();
    arena = arena(1000 * MIB);
    survivors = arena.survivors();
    assertThat(survivors.get(survivors.size() - 1).key()).as("the last").isEqualTo(key(1000));
  }

  @Test
  void chunksAreFoundAfterAKill() throws IOException {
    List<Frame> frames = fill();
    Path copy = Files.createDirectory(temp.resolve("killed"));
    try (FileChannel from = FileChannel.open(fixture.pools.get(0), StandardOpenOption.READ)) {
      Path file = copy.resolve("strata.pool");
      try (FileChannel to =
          FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
        assertThat(from.transferTo(0, from.size(), to)).isEqualTo(from.size());
      }
      try (TierFixture killed = new TierFixture(copy)) {
        killed.pools.add(file);
        killed.open();
        try (ChunkArena left = killed.tier().spareRoom(1000 * MIB, CHUNK).orElseThrow()) {
          assertThat(left.survivors()).hasSameSizeAs(frames).allMatch(SpareRoomTest::isWhole);
        }
      }
    }
  }

  @Test
  void withoutACacheWhatWasLentIsStillGivenBack() throws Exception {
    fill();
    arena.close();
    fixture.reopen();
    assertThat(usage().cacheBytes()).isPositive();
    fixture.append(fixture.segment("orders-0", 0), new byte[(int) (usage().roomBytes() - MIB)]);
    TieredSegment hot = fixture.tier().segments().iterator().next();
    assertThat(hot.segment().spilled()).isFalse();
    assertThat(usage().cacheBytes()).isZero();
  }

  @Test
  void aLowerBoundGivesTheRestBack() throws IOException {
    fill();
    arena.close();
    arena = arena(6 * MIB);
    assertThat(usage().cacheBytes()).isBetween(MIB, 6 * MIB);
    assertThat(arena.survivors()).isNotEmpty().allMatch(SpareRoomTest::isWhole);
  }

  @Test
  void aPoolThatHasComeToBeOfALowerTierLendsNothing() throws IOException {
    fill();
    arena.close();
    fixture.close();
    fixture.pool("fast.pool", 8 * MIB);
    fixture.pools.add(0, fixture.pools.remove(1));
    fixture.inTiers("fast", "slow");
    fixture.open();
    for (Pool pool : fixture.tier().pools()) {
      assertThat(pool.usage().cacheBytes()).isZero();
    }
    arena = arena(1000 * MIB);
    assertThat(arena.survivors()).isEmpty();
  }

  @Test
  void aTornHeaderIsNoChunk() throws IOException {
    List<Frame> frames = fill();
    arena.close();
    List<CacheRegion> regions = pool().regions();
    Random random = new Random(5);
    for (CacheRegion region : regions) {
      // The first chunk's header of each: a few bytes of another time.
      byte[] torn = new byte[8];
      random.nextBytes(torn);
      pool().memory().store(region.position() + 8L * random.nextInt(7), ByteBuffer.wrap(torn));
    }
    fixture.reopen();
    arena = arena(1000 * MIB);
    List<Frame> survivors = arena.survivors();
    assertThat(survivors).hasSize(frames.size() - regions.size()).allMatch(SpareRoomTest::isWhole);
  }

  @Test
  void noiseInARegionIsNoChunk() throws IOException {
    fill();
    arena.close();
    for (CacheRegion region : pool().regions()) {
      byte[] noise = new byte[(int) region.length()];
      new Random(3).nextBytes(noise);
      pool().memory().store(region.position(), ByteBuffer.wrap(noise));
    }
    arena = arena(1000 * MIB);
    assertThat(arena.survivors()).isEmpty();
    assertThat(fill()).isNotEmpty();
  }

  @Test
  void nobodyTakesARegionForASegment() throws Exception {
    fixture.append(fixture.segment("orders-0", 0), Batches.of(10_000, 1));
    fill();
    assertThat(pool().slots()).hasSize(1);
    var report = PoolChecker.check(fixture.pools.get(0));
    assertThat(report.findings()).isEmpty();
    assertThat(report.liveSlots()).isEqualTo(1);
    assertThat(report.freeSlots()).isEqualTo(63);
    assertThat(report.usedBytes()).isEqualTo(usage().usedBytes());
    try (PoolReader reader = Pool.openReadOnly(fixture.pools.get(0))) {
      assertThat(reader.readAll()).hasSize(1);
    }
    arena.close();
    fixture.reopen();
    assertThat(fixture.tier().hotSegments()).isEqualTo(1);
    assertThat(pool().report().liveSlots()).isEqualTo(1);
    assertThat(pool().report().freeSlots()).isEqualTo(63);
    arena = arena(1000 * MIB);
  }

  @Test
  void aDrainLeavesTheCacheAlone() throws Exception {
    Path file = fixture.segment("orders-0", 0);
    byte[] bytes = Batches.of(10_000, 1);
    fixture.append(file, bytes);
    fill();
    arena.close();
    fixture.close();
    Drain.Report report =
        Drain.run(fixture.spec(), TierEvents.NONE, io.strata.kafka.memory.ProgressListener.NONE);
    assertThat(report.segments()).isEqualTo(1);
    assertThat(report.complete()).isTrue();
    assertThat(file).hasBinaryContent(bytes);
    fixture.extra = Map.of();
    fixture.open();
    arena = arena(1000 * MIB);
    assertThat(arena.survivors()).isNotEmpty().allMatch(SpareRoomTest::isWhole);
  }

  @Test
  void aClosedPoolHasNoChunks() throws IOException {
    Frame frame = store(1).orElseThrow();
    fixture.close();
    assertThat(frame.read(0, ByteBuffer.allocate(10))).isFalse();
    assertThat(store(2)).isEmpty();
    frame.release();
  }
}
