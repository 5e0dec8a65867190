package io.strata.kafka.tier.moves;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.crash.SimFileSystem;
import io.strata.kafka.crash.SimPath;
import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.RecordingMemory;
import io.strata.kafka.migration.CorruptSegmentException;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.pool.SimPools;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.segment.Segment;
import io.strata.kafka.segment.SegmentEvents;
import io.strata.kafka.segment.SegmentSettings;
import io.strata.kafka.segment.SpaceMaker;
import io.strata.kafka.tier.Batches;
import io.strata.kafka.tier.DestagedInPiecesTest;
import io.strata.kafka.tier.HotTier;
import io.strata.kafka.tier.TierFixture;
import io.strata.kafka.tier.directory.PoolSet;
import io.strata.kafka.tier.directory.TierParts;
import io.strata.kafka.tier.files.SegmentRegistry;
import io.strata.kafka.tier.files.TieredSegment;
import io.strata.kafka.tier.spec.LogDiskPace;
import io.strata.kafka.tier.spec.TierEvents;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The sums and views that are kept, against those of a look at every segment. */
public final class TierStateTest {

  private static final int SEGMENTS = 500;
  private static final int STEPS = 150;
  private static final int PARTITIONS = 4;

  @TempDir private Path directory;

  /** Everything that happens to segments, at random, with a pool that is far too small for them. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void whatIsKeptIsWhatAFullCountFinds(long seed) throws Exception {
    Random random = new Random(seed);
    try (TierFixture fixture = TierFixture.twoTiers(directory, 4 << 20)) {
      HotTier tier = fixture.openWithoutBackground();
      World world = new World(fixture, random);
      for (int step = 0; step < STEPS; step++) {
        String what = world.step();
        if (random.nextInt(4) == 0) {
          TieredSegments.State kept = tier.tieredSegments().state();
          TierFigures figures = tier.figures();
          tier.reconfigure(world.settings());
          String when = "seed " + seed + ", step " + step + ": " + what;
          assertSame(when, kept, tier);
          assertSame(when, figures, tier.figures());
        }
      }
      world.close();
    }
  }

  /** The extents are gone, durably or not: who counts them must look. */
  @Test
  void anEvictionThatFailsHalfWayIsAChange() throws Exception {
    RecordingMemory memory = new RecordingMemory(8 << 20, Durability.FORCE);
    Path file = directory.resolve("a.pool");
    SimPools.format(
        memory,
        PoolSpec.of(file, MemoryType.MAPPED, 8 << 20).withSlotCount(4).withOwner(TierFixture.OWNER),
        new UUID(1, 2));
    try (TierFixture fixture = new TierFixture(directory)) {
      fixture.pools.add(file);
      fixture.opening = (path, type, owner) -> SimPools.open(memory, owner, 1);
      HotTier tier = fixture.openWithoutBackground();
      Path active = fixture.segment("orders-0", 0);
      try (FileChannel channel = tier.open(active, TierFixture.KAFKA).orElseThrow()) {
        for (int i = 0; i < 10; i++) {
          int unused = channel.write(ByteBuffer.wrap(Batches.of(100_000, i)));
        }
        TierFixture.assertDone(fixture.destage(active, 1));
        Slot slot = tier.pools().get(0).slots().get(0);
        long usedBefore = slot.extents().length();
        memory.beforeForce(
            SlotLayout.slotPosition(slot.index()),
            () -> {
              throw new IOException("Force staged");
            });
        assertThatThrownBy(() -> fixture.evict(active)).hasMessageContaining("Force staged");
        assertThat(slot.extents().length()).isLessThan(usedBefore);
        TieredSegments.State kept = tier.tieredSegments().state();
        StrataConfig config = fixture.spec().config();
        tier.reconfigure(
            new StrataConfig(
                config.tiers(),
                config.poolCreate(),
                config.topicsInclude(),
                List.of("none"),
                config.requireDax(),
                config.durability(),
                config.spillForce(),
                config.migration()));
        assertSame("after the failure", kept, tier);
      }
    }
  }

  private static void assertSame(String when, TieredSegments.State kept, HotTier tier) {
    TieredSegments.State counted = tier.tieredSegments().state();
    assertThat(kept.tiers()).as(when).isEqualTo(counted.tiers());
    assertThat(kept.unwanted()).as(when).isEqualTo(counted.unwanted());
    assertThat(byId(kept)).as(when).isEqualTo(byId(counted));
  }

  private static void assertSame(String when, TierFigures kept, TierFigures counted) {
    assertThat(kept.hot()).as(when).isEqualTo(counted.hot());
    assertThat(kept.spilled()).as(when).isEqualTo(counted.spilled());
    assertThat(kept.spilling()).as(when).isEqualTo(counted.spilling());
    assertThat(kept.refused()).as(when).isEqualTo(counted.refused());
    for (int i = 0; i < counted.tiers().size(); i++) {
      OptionalLong found = kept.tiers().get(i).oldestDirtyMillis();
      OptionalLong expected = counted.tiers().get(i).oldestDirtyMillis();
      assertThat(found.isPresent()).as(when).isEqualTo(expected.isPresent());
      // The clock has gone on between the two.
      assertThat(expected.orElse(0) - found.orElse(0)).as(when).isBetween(0L, 10_000L);
    }
  }

  /** Without what has been read recently, which differs from one millisecond to the next. */
  private static Map<Long, String> byId(TieredSegments.State state) {
    return state.segments().stream()
        .collect(
            Collectors.toMap(
                SegmentView::id,
                view -> view.toString().replaceAll("recentReadBytes=[^,]*", "recentReadBytes")));
  }

  /** Partitions that are appended to, rolled, read, truncated, moved and deleted. */
  private static final class World {
    private final TierFixture fixture;
    private final Random random;
    private final Map<Path, FileChannel> open = new HashMap<>();
    private final List<List<Path>> partitions = new ArrayList<>();
    private long next = 1;
    private List<String> excluded = List.of("none");

    World(TierFixture fixture, Random random) throws IOException {
      this.fixture = fixture;
      this.random = random;
      for (int i = 0; i < PARTITIONS; i++) {
        partitions.add(new ArrayList<>());
        roll(i);
      }
    }

    StrataConfig settings() {
      StrataConfig config = fixture.spec().config();
      return new StrataConfig(
          config.tiers(),
          config.poolCreate(),
          config.topicsInclude(),
          excluded,
          config.requireDax(),
          config.durability(),
          config.spillForce(),
          config.migration());
    }

    private void roll(int partition) throws IOException {
      Path file = fixture.segment("topic" + partition + "-0", next++);
      Optional<FileChannel> ours = fixture.tier().open(file, TierFixture.KAFKA);
      open.put(file, ours.isPresent() ? ours.get() : FileChannel.open(file, TierFixture.KAFKA));
      partitions.get(partition).add(file);
    }

    private FileChannel channel(Path file) {
      return Objects.requireNonNull(open.get(file));
    }

    String step() throws Exception {
      int partition = random.nextInt(PARTITIONS);
      List<Path> files = partitions.get(partition);
      Path newest = files.get(files.size() - 1);
      Path any = files.get(random.nextInt(files.size()));
      int kind = random.nextInt(20);
      switch (kind) {
        case 0, 1, 2, 3, 4, 5 -> {
          FileChannel channel = channel(newest);
          channel.write(
              ByteBuffer.wrap(Batches.of(1 + random.nextInt(200_000), next)), channel.size());
        }
        case 6, 7, 8 -> roll(partition);
        case 9 -> channel(any).read(ByteBuffer.allocate(10_000), 0);
        case 10 -> channel(newest).truncate(random.nextInt((int) channel(newest).size() + 1));
        case 11, 12 -> {
          if (files.size() > 1) {
            Path oldest = files.remove(0);
            delete(oldest);
          }
        }
        case 13 -> {
          if (files.size() > 1) {
            Path oldest = files.remove(0);
            Path renamed = oldest.resolveSibling(oldest.getFileName() + ".deleted");
            boolean moved = fixture.tier().move(oldest, renamed, StandardCopyOption.ATOMIC_MOVE);
            assertThat(moved).isTrue();
            open.put(renamed, channel(oldest));
            open.remove(oldest);
            delete(renamed);
          }
        }
        case 14 -> {
          excluded = List.of("topic" + partition);
          fixture.tier().reconfigure(settings());
        }
        case 15 -> channel(any).force(true);
        default -> {
          for (int i = 0; i < 3; i++) {
            move(random.nextInt(3));
          }
        }
      }
      return "kind " + kind;
    }

    private void delete(Path file) throws IOException {
      FileChannel channel = channel(file);
      open.remove(file);
      boolean before = random.nextBoolean();
      if (before) {
        channel.close();
      }
      if (!fixture.tier().delete(file)) {
        Files.delete(file);
      }
      if (!before) {
        channel.close();
      }
    }

    private void move(int kind) throws Exception {
      TieredSegments tiers = fixture.tier().tieredSegments();
      List<SegmentView> views = tiers.state().segments();
      if (views.isEmpty()) {
        return;
      }
      SegmentView view = views.get(random.nextInt(views.size()));
      try {
        switch (kind) {
          case 0 ->
              tiers.destage(
                  view.id(),
                  1 + random.nextInt(2),
                  new DestagedInPiecesTest.Pieces(1 + random.nextInt(300_000)));
          case 1 -> tiers.evict(view.id());
          default -> tiers.promote(view.id(), random.nextInt(2), MoveControl.UNLIMITED);
        }
      } catch (CorruptSegmentException truncatedWithinABatch) {
        return;
      }
    }

    void close() throws IOException {
      for (FileChannel channel : open.values()) {
        channel.close();
      }
    }
  }

  @Test
  void onlyWhatHasChangedIsLookedAt() throws Exception {
    try (TierFixture fixture = new TierFixture(directory).pool("hot.pool", 16 << 20)) {
      AtomicInteger looks = new AtomicInteger();
      SegmentRegistry registry = new SegmentRegistry();
      PoolSet pools = PoolSet.open(fixture.spec(), TierEvents.NONE, TierParts.STANDARD.pools());
      TierState state =
          new TierState(
              pools,
              registry,
              name -> looks.incrementAndGet() > 0,
              false,
              (segment, whole) -> {},
              InstantSource.system());
      List<TieredSegment> segments = new ArrayList<>();
      for (int i = 0; i < SEGMENTS; i++) {
        segments.add(inLogFile(registry, i));
      }
      assertThat(state.now().segments()).hasSize(SEGMENTS);
      assertThat(looks).hasValue(SEGMENTS);

      looks.set(0);
      assertThat(state.usagesNow()).hasSize(1);
      assertThat(looks).as("looks at segments that have not changed").hasValue(0);

      segments.get(7).missing(true);
      segments.get(9).changed();
      segments.get(9).changed();
      registry.remove(segments.get(11));
      assertThat(state.usagesNow()).hasSize(1);
      assertThat(looks).as("looks at two segments of %d", SEGMENTS).hasValue(2);
      assertThat(state.now().segments()).hasSize(SEGMENTS - 2);
      pools.close();
    }
  }

  /**
   * A look between two steps of a removal finds the number of the newest segment gone, and its
   * directory not yet.
   */
  @Test
  void theOneBeforeIsActiveWhenALookCameIntoTheRemovalOfTheNewest() throws Exception {
    try (TierFixture fixture = new TierFixture(directory).pool("hot.pool", 16 << 20)) {
      SegmentRegistry registry = new SegmentRegistry();
      PoolSet pools = PoolSet.open(fixture.spec(), TierEvents.NONE, TierParts.STANDARD.pools());
      TierState state =
          new TierState(
              pools, registry, name -> true, false, (segment, whole) -> {}, InstantSource.system());
      AtomicBoolean looks = new AtomicBoolean();
      LookedUp partition =
          new LookedUp(
              new SimFileSystem().getPath("/logs", "topic-0"),
              () -> {
                if (looks.compareAndSet(true, false)) {
                  assertThat(state.usagesNow()).hasSize(1);
                }
              });
      TieredSegment before = inLogFile(registry, 0, partition.file(0));
      TieredSegment newest = inLogFile(registry, 1, partition.file(1));
      assertThat(state.now().segments()).hasSize(2);
      assertThat(before.active()).isFalse();

      looks.set(true);
      newest.changed();
      registry.remove(newest);
      assertThat(looks).isFalse();
      assertThat(state.now().segments()).hasSize(1);
      assertThat(before.active()).isTrue();
      pools.close();
    }
  }

  /** A directory in whose look-up in the registry another look comes. */
  private static final class LookedUp extends SimPath {
    private final Runnable look;

    LookedUp(Path directory, Runnable look) {
      super(directory);
      this.look = look;
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return super.equals(other);
    }

    @Override
    public int hashCode() {
      look.run();
      return super.hashCode();
    }

    SimPath file(int offset) {
      LookedUp directory = this;
      return new SimPath(resolve("%020d.log".formatted(offset))) {
        @Override
        public Path getParent() {
          return directory;
        }
      };
    }
  }

  /** What has been read counts half after ten minutes, also when the clock was set back. */
  @Test
  void whatWasReadIsForgottenThoughTheClockGoesBack() throws Exception {
    try (TierFixture fixture = new TierFixture(directory).pool("hot.pool", 16 << 20)) {
      SegmentRegistry registry = new SegmentRegistry();
      PoolSet pools = PoolSet.open(fixture.spec(), TierEvents.NONE, TierParts.STANDARD.pools());
      AtomicLong millis = new AtomicLong(TimeUnit.DAYS.toMillis(1000));
      TierState state =
          new TierState(
              pools,
              registry,
              name -> true,
              false,
              (unused, whole) -> {},
              () -> Instant.ofEpochMilli(millis.get()));
      Path file = directory.resolve("read");
      Files.write(file, new byte[1 << 20]);
      TieredSegment segment = inLogFile(registry, 0);
      Set<StandardOpenOption> read = Set.of(StandardOpenOption.READ);
      try (FileChannel channel = segment.segment().open(FileChannel.open(file, read), read)) {
        assertThat(channel.read(ByteBuffer.allocate(1 << 20), 0)).isEqualTo(1 << 20);
      }
      segment.changed();
      assertThat(state.now().segments().get(0).recentReadBytes()).isEqualTo(1 << 20);

      millis.addAndGet(-TimeUnit.HOURS.toMillis(1));
      assertThat(state.now().segments()).hasSize(1);
      millis.addAndGet(TimeUnit.MINUTES.toMillis(20));
      assertThat(state.now().segments().get(0).recentReadBytes()).isLessThan(1 << 19);
      pools.close();
    }
  }

  /**
   * Adds a segment that a stock broker has written, in a partition with 49 others. No file is
   * needed of it.
   */
  public static TieredSegment inLogFile(SegmentRegistry registry, int number) {
    return inLogFile(
        registry,
        number,
        Path.of("/logs", "topic-%d".formatted(number / 50), "%020d.log".formatted(number % 50)));
  }

  private static TieredSegment inLogFile(SegmentRegistry registry, int number, Path file) {
    TieredSegment segment =
        new TieredSegment(
            number,
            Segment.inLogFile(
                file.toString(),
                1 << 20,
                number,
                new SegmentSettings(() -> false, InstantSource.system(), SpaceMaker.NONE),
                SegmentEvents.NONE),
            file,
            "inode " + number,
            true,
            registry,
            logFile -> new LogDiskPace(LogDiskPace.Time.SYSTEM));
    return registry.addUnpooled(segment);
  }
}
