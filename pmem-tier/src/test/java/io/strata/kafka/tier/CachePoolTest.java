package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.config.MetaProperties;
import io.strata.kafka.memory.MemoryOpener;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolException;
import io.strata.kafka.pool.PoolOwner;
import io.strata.kafka.pool.PoolSpec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pools of type cache: every append is in the log file too, and losing the pool loses nothing. */
final class CachePoolTest {

  private static final long SIZE = 16 << 20;
  private static final byte[] BYTES = TierFixture.bytes(200_000, 1);
  private static final String KAFKAS_OWN = "version=1\ncluster.id=c\nnode.id=1\n";

  @TempDir private Path root;
  private TierFixture fixture;
  private Path pool;
  private Path meta;
  private final List<String> notes = new ArrayList<>();

  @BeforeEach
  void aBrokerWithoutAPool() throws IOException {
    fixture = new TierFixture(root);
    pool = fixture.root.resolve("hot.pool");
    fixture.pools.add(pool);
    type("cache");
    meta = Files.writeString(fixture.logs().resolve(MetaProperties.FILE_NAME), KAFKAS_OWN);
    fixture.events =
        new TierEvents() {
          @Override
          public void poolReplaced(Path file, String damage) {
            notes.add("replaced " + file.getFileName());
          }

          @Override
          public void backgroundFailure(String what, Exception cause) {
            notes.add(what + ": " + cause);
          }
        };
  }

  @AfterEach
  void close() throws IOException {
    fixture.close();
  }

  private void type(String name) {
    fixture.extra = Map.of("strata.pool.type", name, "strata.pool.create", String.valueOf(SIZE));
  }

  /** As a broker starts. */
  private void start() throws IOException {
    MissingPools.create(fixture.spec(), fixture.events, new ArrayList<>());
    fixture.open();
  }

  private FileChannel channel(Path file) throws IOException {
    return fixture.tier().open(file, TierFixture.KAFKA).orElseThrow();
  }

  private static void write(FileChannel channel, byte[] bytes) throws IOException {
    assertThat(channel.write(ByteBuffer.wrap(bytes), channel.size())).isEqualTo(bytes.length);
  }

  private int liveSlots() {
    return fixture.tier().pools().get(0).usage().liveSlots();
  }

  private long inPool(Path file) {
    return fixture.view(file).poolBytes();
  }

  @Test
  void aStockBrokerFindsEverything() throws IOException {
    start();
    Path file = fixture.segment("orders-0", 0);
    try (FileChannel channel = channel(file)) {
      write(channel, BYTES);

      assertThat(inPool(file)).isGreaterThanOrEqualTo(BYTES.length);
      assertThat(fixture.view(file).dirtyBytes()).isZero();
      assertThat(Files.readAllBytes(file)).isEqualTo(BYTES);
      assertThat(TaggedLogFile.tagOf(file)).isEmpty();
      assertThat(fixture.read(file)).isEqualTo(BYTES);
    }
    assertThat(meta).hasContent(KAFKAS_OWN);
    assertThat(LogDirectory.find(fixture.logs()).orElseThrow().recordedPools()).isEmpty();
  }

  /** Nothing of it has to be copied before it can be evicted: its space is never scarce. */
  @Test
  void aCacheTakesEverySegmentUntilItIsFull() throws IOException {
    start();
    List<FileChannel> channels = new ArrayList<>();
    for (int i = 0; i < 14; i++) {
      FileChannel channel = channel(fixture.segment("orders-" + i, 0));
      channels.add(channel);
      for (int more = 0; more < 5; more++) {
        write(channel, BYTES);
      }
    }
    assertThat(fixture.tier().pools().get(0).usage().freeBytes()).isLessThan(SIZE / 5);
    assertThat(fixture.tier().counts().placementsRefused()).isZero();
    for (FileChannel channel : channels) {
      channel.close();
    }
  }

  @Test
  void aSegmentIsOneForAllItsChannelsAndLeavesWithTheLast() throws IOException {
    start();
    Path file = fixture.segment("orders-0", 0);
    FileChannel first = channel(file);
    write(first, BYTES);
    try (FileChannel second = channel(file);
        FileChannel reader =
            fixture.tier().open(file, Set.of(StandardOpenOption.READ)).orElseThrow()) {
      write(second, BYTES);
      assertThat(TierFixture.content(reader)).hasSize(2 * BYTES.length);
      first.close();
      assertThat(liveSlots()).isEqualTo(1);
    }
    Awaitility.await().until(() -> liveSlots() == 0);
    assertThat(fixture.tier().pools().get(0).usage().usedBytes()).isZero();
    assertThat(fixture.read(file)).hasSize(2 * BYTES.length);
  }

  @Test
  void itFollowsRenamesAndGoesWithItsFile() throws IOException {
    start();
    Path file = fixture.segment("orders-0", 0);
    Path other = fixture.segment("orders-0", 7);
    try (FileChannel channel = channel(file);
        FileChannel replaced = channel(other)) {
      write(channel, BYTES);
      write(replaced, new byte[1000]);
      assertThat(liveSlots()).isEqualTo(2);

      assertThat(fixture.tier().move(file, other, StandardCopyOption.ATOMIC_MOVE)).isTrue();
      assertThat(liveSlots()).isEqualTo(1);
      write(channel, BYTES);
      assertThat(Files.size(other)).isEqualTo(2L * BYTES.length);

      assertThat(fixture.tier().delete(other)).isTrue();
      assertThat(liveSlots()).isZero();
      assertThat(TierFixture.content(channel)).hasSize(2 * BYTES.length);
    }
    assertThat(notes).isEmpty();
  }

  @Test
  void aLostPoolIsMadeAnewWithoutAWord() throws Exception {
    start();
    Path file = fixture.segment("orders-0", 0);
    try (FileChannel channel = channel(file)) {
      write(channel, BYTES);
      Path killed = Files.createDirectory(root.resolve("killed"));
      TierFixture left = fixture.copyTo(killed);
      assertThat(left.pools).hasSize(1);
      try (left) {
        Files.delete(left.pools.get(0));
        MissingPools.create(left.spec(), fixture.events, new ArrayList<>());
        RecoveryReport report = left.open().recoveryReport();
        assertThat(report.freed()).isEmpty();
        assertThat(report.orphaned()).isEmpty();
        assertThat(left.read(left.segment("orders-0", 0))).isEqualTo(BYTES);
      }
    }
    assertThat(notes).isEmpty();
  }

  @Test
  void whatAKillLeavesInThePoolIsFreedUnseen() throws Exception {
    start();
    Path file = fixture.segment("orders-0", 0);
    try (FileChannel channel = channel(file)) {
      write(channel, BYTES);
      Path killed = Files.createDirectory(root.resolve("killed"));
      TierFixture left = fixture.copyTo(killed);
      // A stock broker has run meanwhile.
      Path log = left.segment("orders-0", 0);
      Files.write(log, TierFixture.bytes(1000, 2));
      Files.write(left.segment("orders-0", 1000), TierFixture.bytes(1000, 3));
      try (left) {
        left.open();
        assertThat(left.tier().pools().get(0).usage().liveSlots()).isZero();
        assertThat(left.read(log)).isEqualTo(TierFixture.bytes(1000, 2));
      }
    }
  }

  @Test
  void aSegmentComesBackWhenItIsAppendedTo() throws Exception {
    start();
    Path file = fixture.segment("orders-0", 0);
    fixture.append(file, BYTES);
    fixture.reopen();
    try (FileChannel channel = channel(file)) {
      assertThat(inPool(file)).isZero();
      TierFixture.assertDone(fixture.goOn(file));
      write(channel, BYTES);

      assertThat(inPool(file)).isPositive();
      assertThat(fixture.view(file).dirtyBytes()).isZero();
      assertThat(TaggedLogFile.tagOf(file)).isEmpty();
      assertThat(Files.readAllBytes(file)).isEqualTo(fixture.read(file)).hasSize(400_000);
    }
    assertThat(notes).isEmpty();
  }

  /** A pool that had another type before has bytes that the log files lack. */
  @Test
  void whatWasThereBeforeStaysAsItWas() throws IOException {
    type("mapped");
    start();
    Path file = fixture.segment("orders-0", 0);
    fixture.append(file, BYTES);
    fixture.close();
    assertThat(Marker.isMarked(fixture.logs())).isTrue();
    assertThat(Files.size(file)).isZero();
    onMemory("cache");

    start();
    assertThat(fixture.read(file)).isEqualTo(BYTES);
    assertThat(Marker.isMarked(fixture.logs())).isTrue();
    Path next = fixture.segment("orders-0", 1000);
    try (FileChannel channel = channel(next)) {
      write(channel, BYTES);
      assertThat(Files.readAllBytes(next)).isEqualTo(BYTES);
    }
    assertThat(fixture.tier().delete(file)).isTrue();
    fixture.close();

    start();
    assertThat(Marker.isMarked(fixture.logs())).isFalse();
    assertThat(liveSlots()).isZero();
    fixture.close();

    type("mapped");
    start();
    assertThat(Marker.isMarked(fixture.logs())).isTrue();
    assertThat(fixture.read(next)).isEqualTo(BYTES);
  }

  /** As on tmpfs, where dirty bytes have nothing to lose by the new type. */
  private void onMemory(String name) {
    type(name);
    fixture.opening =
        (file, type, owner) -> Pool.open(MemoryOpener.open(type.on(file), file, true), owner);
  }

  @Test
  void onADeviceThePoolIsDrainedFirst() throws IOException {
    type("mapped");
    start();
    fixture.append(fixture.segment("orders-0", 0), BYTES);
    fixture.close();
    type("cache");

    assertThatThrownBy(this::start).hasMessageContainingAll("type cache", "orders-0", "drain");
  }

  /** What is appended to it next would be in memory that nothing forces, and nowhere else. */
  @Test
  void onADeviceASegmentWithoutBytesCountsToo() throws IOException {
    type("mapped");
    start();
    channel(fixture.segment("orders-0", 0)).close();
    fixture.close();
    type("cache");

    assertThatThrownBy(this::start).hasMessageContainingAll("type cache", "orders-0", "drain");
  }

  @Test
  void whatIsNotWrittenThroughHasNoAcknowledgedAppends() throws IOException {
    type("mapped");
    start();
    fixture.append(fixture.segment("orders-0", 0), BYTES);
    fixture.close();
    onMemory("cache");
    fixture.extra = new HashMap<>(fixture.extra);
    fixture.extra.put("strata.durability", "ack");

    assertThatThrownBy(this::start).hasMessageContainingAll("strata.durability=ack", "drain");
  }

  @Test
  void twoDamagedPoolsAreMadeAnew() throws IOException {
    Path second = fixture.root.resolve("second.pool");
    fixture.pools.add(second);
    start();
    fixture.append(fixture.segment("orders-0", 0), BYTES);
    fixture.close();
    truncate(pool);
    truncate(second);

    start();
    assertThat(notes).containsExactly("replaced hot.pool", "replaced second.pool");
    assertThat(fixture.read(fixture.segment("orders-0", 0))).isEqualTo(BYTES);
  }

  @Test
  void aDamagedPoolIsMadeAnew() throws IOException {
    start();
    fixture.append(fixture.segment("orders-0", 0), BYTES);
    fixture.close();
    truncate(pool);

    start();
    assertThat(notes).containsExactly("replaced hot.pool");
    assertThat(fixture.read(fixture.segment("orders-0", 0))).isEqualTo(BYTES);
  }

  private static void truncate(Path pool) throws IOException {
    try (FileChannel channel = FileChannel.open(pool, StandardOpenOption.WRITE)) {
      FileChannel unused = channel.truncate(SIZE / 2);
    }
  }

  @Test
  void aDamagedPoolThatMayHaveRecordsIsRefused() throws IOException {
    type("mapped");
    start();
    fixture.append(fixture.segment("orders-0", 0), BYTES);
    fixture.close();
    truncate(pool);
    type("cache");

    assertThatThrownBy(this::start).isInstanceOf(PoolException.class);
    assertThat(notes).isEmpty();
    assertThat(pool).hasSize(SIZE / 2);
  }

  @Test
  void anotherBrokersPoolIsRefused() throws IOException {
    start();
    fixture.close();
    Files.delete(pool);
    Pool.create(
        PoolSpec.of(pool, MemoryType.MAPPED, SIZE).withOwner(PoolOwner.of(2, "test-cluster")),
        ProgressListener.NONE);

    assertThatThrownBy(this::start)
        .isInstanceOfSatisfying(
            PoolException.class,
            e -> assertThat(e.kind()).isEqualTo(PoolException.Kind.OTHER_OWNER));
  }

  @Test
  void withoutTheKeyAMissingPoolIsRefused() {
    fixture.extra = Map.of("strata.pool.type", "cache");

    assertThatThrownBy(this::start)
        .isInstanceOfSatisfying(
            PoolException.class, e -> assertThat(e.kind()).isEqualTo(PoolException.Kind.MISSING));
  }

  @Test
  void eachAppendIsForcedWhereThatIsAskedFor() throws IOException {
    fixture.extra = new HashMap<>(fixture.extra);
    fixture.extra.put("strata.durability", "ack");
    start();
    Path file = fixture.segment("orders-0", 0);
    try (FileChannel channel = channel(file)) {
      write(channel, BYTES);
      TieredSegment segment = fixture.tier().segments().iterator().next();
      assertThat(segment.nameForced(segment.place())).isTrue();
      assertThat(fixture.read(file)).isEqualTo(BYTES);
    }
  }
}
