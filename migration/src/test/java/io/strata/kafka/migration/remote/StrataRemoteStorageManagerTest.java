package io.strata.kafka.migration.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.strata.kafka.migration.plan.MigrationSettings;
import io.strata.kafka.migration.remote.RemoteSettings.ColdSettings;
import io.strata.kafka.migration.remote.RemoteStats.Cause;
import io.strata.kafka.migration.remote.RemoteStats.Operation;
import io.strata.kafka.migration.remote.store.disk.StoreOptions;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.StoreStage;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.server.log.remote.storage.LogSegmentData;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentId;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata.CustomMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadataUpdate;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentState;
import org.apache.kafka.server.log.remote.storage.RemoteResourceNotFoundException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager.IndexType;
import org.apache.kafka.server.log.remote.storage.RetriableRemoteStorageException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What KIP-405 asks of a manager. */
class StrataRemoteStorageManagerTest {

  private static final int BYTES = 300_000;
  private static final Uuid TOPIC_ID = Uuid.randomUuid();

  @TempDir private Path top = Path.of("");
  private Path ssd = Path.of("");
  private final List<StrataRemoteStorageManager> managers = new ArrayList<>();
  private volatile StoreStage.Hook stages = StoreStage.Hook.NONE;
  private Duration inventory = Duration.ofMillis(200);

  @BeforeEach
  void directories() throws Exception {
    ssd = Files.createDirectory(top.resolve("ssd"));
  }

  @AfterEach
  void close() {
    managers.forEach(StrataRemoteStorageManager::close);
  }

  private RemoteSettings settings(Duration copyTimeout, Path... directories) {
    return settings(copyTimeout, List.of(), Optional.empty(), directories);
  }

  private RemoteSettings settings(
      Duration copyTimeout,
      List<Double> thresholds,
      Optional<ColdSettings> cold,
      Path... directories) {
    return new RemoteSettings(
        1,
        List.of(
            new StoreOptions.LevelOptions(
                "ssd",
                Stream.of(directories)
                    .map(d -> new StoreOptions.Directory(d, OptionalLong.of(1 << 26)))
                    .toList())),
        cold,
        1 << 16,
        new RemoteSettings.Live(
            copyTimeout,
            Duration.ofSeconds(10),
            Duration.ofSeconds(10),
            inventory,
            Duration.ZERO,
            Duration.ofHours(1),
            new MigrationSettings(
                cold.isPresent() ? MigrationSettings.Mode.THRESHOLD : MigrationSettings.Mode.EAGER,
                thresholds,
                0.05,
                cold.isEmpty(),
                1,
                0,
                0,
                Duration.ofMillis(200),
                "newest",
                Map.of(),
                List.of())));
  }

  private FixedEnvironment environment =
      environment(settings(Duration.ofSeconds(10), Path.of("/")));

  private FixedEnvironment environment(RemoteSettings settings) {
    return new FixedEnvironment(settings, stage -> stages.reached(stage));
  }

  private StrataRemoteStorageManager manager(RemoteSettings settings) {
    environment = environment(settings);
    StrataRemoteStorageManager manager = new StrataRemoteStorageManager(environment);
    manager.configure(Map.of());
    managers.add(manager);
    return manager;
  }

  private StrataRemoteStorageManager manager() {
    return manager(settings(Duration.ofSeconds(30), ssd));
  }

  private RemoteStats stats() {
    return environment.stats();
  }

  private static RemoteLogSegmentMetadata metadata(long start) {
    return new RemoteLogSegmentMetadata(
        new RemoteLogSegmentId(
            new TopicIdPartition(TOPIC_ID, new TopicPartition("orders", 3)), Uuid.randomUuid()),
        start,
        start + 99,
        1_700_000_000_000L,
        1,
        1_700_000_000_000L,
        BYTES,
        Map.of(0, start));
  }

  private static byte[] bytes(long seed, int length) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private LogSegmentData data(long start, boolean transactions) throws IOException {
    Path local = Files.createDirectories(top.resolve("local-" + start));
    String base = String.format(java.util.Locale.ROOT, "%020d", start);
    return new LogSegmentData(
        Files.write(local.resolve(base + ".log"), bytes(start, BYTES)),
        Files.write(local.resolve(base + ".index"), bytes(1, 80)),
        Files.write(local.resolve(base + ".timeindex"), bytes(2, 120)),
        transactions
            ? Optional.of(Files.write(local.resolve(base + ".txnindex"), bytes(3, 34)))
            : Optional.empty(),
        Files.write(local.resolve(base + ".snapshot"), bytes(4, 50)),
        ByteBuffer.wrap("0\n1\n0 0\n".getBytes(StandardCharsets.UTF_8)));
  }

  private RemoteLogSegmentMetadata copied(StrataRemoteStorageManager manager, long start)
      throws Exception {
    RemoteLogSegmentMetadata metadata = metadata(start);
    Optional<CustomMetadata> custom = manager.copyLogSegmentData(metadata, data(start, false));
    assertThat(custom).isEmpty();
    return metadata.createWithUpdates(
        new RemoteLogSegmentMetadataUpdate(
            metadata.remoteLogSegmentId(),
            1L,
            custom,
            RemoteLogSegmentState.COPY_SEGMENT_FINISHED,
            1));
  }

  private static byte[] all(InputStream stream) throws IOException {
    try (stream) {
      return stream.readAllBytes();
    }
  }

  @Test
  void aSegmentIsReadBackInWholeAndInParts() throws Exception {
    StrataRemoteStorageManager manager = manager();
    RemoteLogSegmentMetadata segment = copied(manager, 0);
    byte[] expected = bytes(0, BYTES);
    assertThat(all(manager.fetchLogSegment(segment, 0))).isEqualTo(expected);
    assertThat(all(manager.fetchLogSegment(segment, 70_000)))
        .isEqualTo(Arrays.copyOfRange(expected, 70_000, BYTES));
    // The end is inclusive.
    assertThat(all(manager.fetchLogSegment(segment, 5, 5)))
        .isEqualTo(Arrays.copyOfRange(expected, 5, 6));
    assertThat(all(manager.fetchLogSegment(segment, 65_535, 65_536)))
        .isEqualTo(Arrays.copyOfRange(expected, 65_535, 65_537));
    assertThat(all(manager.fetchLogSegment(segment, BYTES - 3, BYTES + 100)))
        .isEqualTo(Arrays.copyOfRange(expected, BYTES - 3, BYTES));
    RemoteStats stats = stats();
    assertThat(stats.operations().get(Operation.FETCH))
        .satisfies(o -> assertThat(o.count().sum()).isEqualTo(5));
    assertThat(stats.operations().get(Operation.COPY))
        .satisfies(o -> assertThat(o.bytes().sum()).isEqualTo(BYTES));
  }

  /** Two copies, as between levels; what is wrong with the first does not hide the second. */
  @Test
  void aDamagedCopyDoesNotHideAGoodOne() throws Exception {
    Path second = Files.createDirectory(top.resolve("second"));
    StrataRemoteStorageManager manager = manager(settings(Duration.ofSeconds(30), ssd, second));
    long start = 0;
    for (String file : List.of(".log", ".index", "manifest.json")) {
      for (Damage damage : Damage.values()) {
        start += 100;
        RemoteLogSegmentMetadata segment = copied(manager, start);
        Path one = segmentIn(List.of(ssd, second), segment);
        Path first = ssd.resolve((one.startsWith(ssd) ? ssd : second).relativize(one));
        Path other = second.resolve((one.startsWith(ssd) ? ssd : second).relativize(one));
        copyTree(one, one.equals(first) ? other : first);
        damage.of(fileIn(first, file));

        assertThat(all(manager.fetchIndex(segment, IndexType.OFFSET)))
            .as("index: %s of %s", damage, file)
            .isEqualTo(bytes(1, 80));
        assertThat(all(manager.fetchLogSegment(segment, 0)))
            .as("%s of %s", damage, file)
            .isEqualTo(bytes(start, BYTES));

        if (damage != Damage.MISSING) {
          // Unless it has been repaired by now.
          assertThat(
                  Files.exists(first.resolve("damaged"))
                      || Files.mismatch(fileIn(first, file), fileIn(other, file)) == -1)
              .as("%s of %s", damage, file)
              .isTrue();
        }
        assertThat(other.resolve("damaged")).as("%s of %s", damage, file).doesNotExist();
      }
    }
  }

  /** Alerts are made of that count. */
  @Test
  void aReadThatMeetsAMoveIsNotCountedAsReplaced() throws Exception {
    Path second = Files.createDirectory(top.resolve("second"));
    StrataRemoteStorageManager manager = manager(settings(Duration.ofSeconds(30), ssd, second));
    RemoteLogSegmentMetadata segment = copied(manager, 0);
    assertThat(all(manager.fetchIndex(segment, IndexType.OFFSET))).isEqualTo(bytes(1, 80));
    InputStream before = manager.fetchLogSegment(segment, 0);
    Path copy = segmentIn(List.of(ssd, second), segment);
    Path from = copy.startsWith(ssd) ? ssd : second;
    Path moved = (copy.startsWith(ssd) ? second : ssd).resolve(from.relativize(copy));
    Path unused = Files.createDirectories(moved.getParent());
    Path unusedToo = Files.move(copy, moved);

    assertThat(all(manager.fetchIndex(segment, IndexType.OFFSET))).isEqualTo(bytes(1, 80));
    assertThat(all(before)).isEqualTo(bytes(0, BYTES));

    assertThat(stats().replacedReads()).as("moved").isZero();
    copyTree(moved, copy);
    Damage.FLIPPED.of(fileIn(moved, ".index"));
    assertThat(all(manager.fetchIndex(segment, IndexType.OFFSET))).isEqualTo(bytes(1, 80));
    assertThat(stats().replacedReads()).as("damaged").isEqualTo(1);
    Damage.MISSING.of(fileIn(copy, ".timeindex"));
    assertThat(all(manager.fetchIndex(segment, IndexType.TIMESTAMP))).isEqualTo(bytes(2, 120));
    assertThat(stats().replacedReads()).as("lost").isEqualTo(2);
  }

  /** The health is 2 from the first failed read on, and not only from the next scrub on. */
  @Test
  void aFetchThatFindsEveryCopyDamagedMarksThem() throws Exception {
    StrataRemoteStorageManager manager = manager();
    RemoteLogSegmentMetadata one = copied(manager, 0);
    RemoteLogSegmentMetadata two = copied(manager, 100);
    Damage.FLIPPED.of(fileIn(segmentIn(List.of(ssd), one), ".log"));
    Damage.FLIPPED.of(fileIn(segmentIn(List.of(ssd), two), ".index"));

    assertThatThrownBy(() -> all(manager.fetchLogSegment(one, 0))).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> manager.fetchIndex(two, IndexType.OFFSET))
        .isInstanceOf(RemoteStorageException.class);

    assertThat(segmentIn(List.of(ssd), one).resolve("damaged")).exists();
    assertThat(segmentIn(List.of(ssd), two).resolve("damaged")).exists();
    assertThat(stats().damagedSegments()).isEqualTo(2);
    assertThat(stats().replacedReads()).isZero();
  }

  /** Kafka and the alerts are told that a segment is damaged only if no directory may have it. */
  @Test
  void aDamagedCopyBesideOneThatCannotBeReadIsAway() throws Exception {
    Path second = Files.createDirectory(top.resolve("second"));
    StrataRemoteStorageManager manager = manager(settings(Duration.ofSeconds(30), ssd, second));
    RemoteLogSegmentMetadata segment = copied(manager, 0);
    Path damaged = segmentIn(List.of(ssd, second), segment);
    Path from = damaged.startsWith(ssd) ? ssd : second;
    Path other = from.equals(ssd) ? second : ssd;
    Path unreadable = other.resolve(from.relativize(damaged));
    copyTree(damaged, unreadable);
    Path log = fileIn(unreadable, ".log");
    Files.delete(log);
    // A directory in the place of a file is there, and every read of it fails.
    Path unused = Files.createDirectory(log);
    Damage.FLIPPED.of(fileIn(damaged, ".log"));
    Damage.FLIPPED.of(fileIn(damaged, ".index"));

    assertThatThrownBy(() -> all(manager.fetchLogSegment(segment, 0)))
        .isInstanceOf(Outages.Unanswered.class);
    Runnable back = away(other);
    assertThatThrownBy(() -> manager.fetchIndex(segment, IndexType.OFFSET))
        .isInstanceOf(Outages.Unanswered.class);
    // No copy is found at all.
    Damage.FLIPPED.of(fileIn(damaged, "manifest.json"));
    assertThatThrownBy(() -> manager.fetchIndex(segment, IndexType.OFFSET))
        .isInstanceOf(Outages.Unanswered.class);
    assertThat(failures(Operation.FETCH, Cause.CORRUPT)).isZero();
    assertThat(failures(Operation.INDEX, Cause.CORRUPT)).isZero();
    assertThat(damaged.resolve("damaged")).exists();

    back.run();
    await()
        .until(() -> catchThrowable(() -> manager.fetchIndex(segment, IndexType.OFFSET)) == null);
    assertThat(all(manager.fetchIndex(segment, IndexType.OFFSET))).isEqualTo(bytes(1, 80));
  }

  private enum Damage {
    FLIPPED,
    SHORT,
    MISSING;

    void of(Path file) throws IOException {
      byte[] bytes = Files.readAllBytes(file);
      bytes[bytes.length / 2] ^= 1;
      switch (this) {
        case FLIPPED -> Files.write(file, bytes);
        case SHORT -> Files.write(file, Arrays.copyOf(bytes, bytes.length / 2));
        case MISSING -> Files.delete(file);
        default -> throw new AssertionError(this);
      }
    }
  }

  private static Path segmentIn(List<Path> directories, RemoteLogSegmentMetadata segment)
      throws IOException {
    String id = segment.remoteLogSegmentId().id().toString();
    for (Path directory : directories) {
      // Not into the segments: a mark may be removed just then.
      try (Stream<Path> all = Files.walk(directory.resolve("topics"), 4)) {
        Optional<Path> found =
            all.filter(p -> p.getFileName().toString().endsWith("-" + id)).findFirst();
        if (found.isPresent()) {
          return found.get();
        }
      }
    }
    throw new AssertionError(id + " is nowhere");
  }

  private static Path fileIn(Path segment, String end) throws IOException {
    try (Stream<Path> all = Files.list(segment)) {
      return all.filter(p -> p.toString().endsWith(end)).findFirst().orElseThrow();
    }
  }

  private static void copyTree(Path from, Path to) throws IOException {
    Path unused = Files.createDirectories(to);
    try (Stream<Path> all = Files.list(from)) {
      for (Path file : (Iterable<Path>) all::iterator) {
        Path unusedToo = Files.copy(file, to.resolve(file.getFileName().toString()));
      }
    }
  }

  @Test
  void everyIndexIsReadBack() throws Exception {
    StrataRemoteStorageManager manager = manager();
    RemoteLogSegmentMetadata segment = metadata(0);
    var unused = manager.copyLogSegmentData(segment, data(0, true));
    assertThat(all(manager.fetchIndex(segment, IndexType.OFFSET))).isEqualTo(bytes(1, 80));
    assertThat(all(manager.fetchIndex(segment, IndexType.TIMESTAMP))).isEqualTo(bytes(2, 120));
    assertThat(all(manager.fetchIndex(segment, IndexType.TRANSACTION))).isEqualTo(bytes(3, 34));
    assertThat(all(manager.fetchIndex(segment, IndexType.PRODUCER_SNAPSHOT)))
        .isEqualTo(bytes(4, 50));
    assertThat(all(manager.fetchIndex(segment, IndexType.LEADER_EPOCH)))
        .isEqualTo("0\n1\n0 0\n".getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void aMissingTransactionIndexIsToldAsSuch() throws Exception {
    StrataRemoteStorageManager manager = manager();
    RemoteLogSegmentMetadata segment = copied(manager, 0);
    assertThatThrownBy(() -> manager.fetchIndex(segment, IndexType.TRANSACTION))
        .isInstanceOf(RemoteResourceNotFoundException.class)
        .hasMessageContaining("orders-3")
        .hasMessageContaining("txnindex");
  }

  @Test
  void aMissingSegmentIsToldWithWhoWroteIt() throws Exception {
    StrataRemoteStorageManager manager = manager();
    RemoteLogSegmentMetadata segment = copied(manager, 0);
    manager.deleteLogSegmentData(segment);
    manager.deleteLogSegmentData(segment);
    assertThatThrownBy(() -> manager.fetchLogSegment(segment, 0))
        .isInstanceOf(RemoteResourceNotFoundException.class)
        .hasMessageContaining("orders-3, offsets 0 to 99")
        .hasMessageContaining("Broker 1 wrote it")
        .hasMessageContaining(ssd.toString());
    assertThatThrownBy(() -> manager.fetchIndex(segment, IndexType.OFFSET))
        .isInstanceOf(RemoteResourceNotFoundException.class);
  }

  @Test
  void aStoreThatIsNotSharedIsToldAsSuch() throws Exception {
    RemoteLogSegmentMetadata segment = copied(manager(), 0);
    Path other = Files.createDirectory(top.resolve("other"));
    StrataRemoteStorageManager second = manager(settings(Duration.ofSeconds(30), other));
    assertThatThrownBy(() -> second.fetchLogSegment(segment, 0))
        .isInstanceOf(RemoteResourceNotFoundException.class)
        .hasMessageContaining("must share one store")
        .hasMessageContaining(other.toString());
  }

  @Test
  void damageIsNeverReturned() throws Exception {
    StrataRemoteStorageManager manager = manager();
    RemoteLogSegmentMetadata segment = copied(manager, 0);
    Path log = find(".log");
    byte[] damaged = Files.readAllBytes(log);
    damaged[200_000] ^= 1;
    Path unused = Files.write(log, damaged);
    assertThat(all(manager.fetchLogSegment(segment, 0, 196_607)))
        .isEqualTo(Arrays.copyOf(bytes(0, BYTES), 196_608));
    try (InputStream stream = manager.fetchLogSegment(segment, 199_000)) {
      assertThatThrownBy(() -> stream.read(new byte[10]))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(String.valueOf(log.getParent()))
          .hasMessageContaining("Fetching orders-3, offsets 0 to 99");
    }
    Path index = find(".timeindex");
    byte[] bytes = Files.readAllBytes(index);
    bytes[0] ^= 1;
    Path unusedToo = Files.write(index, bytes);
    assertThatThrownBy(() -> manager.fetchIndex(segment, IndexType.TIMESTAMP))
        .isInstanceOf(RemoteStorageException.class)
        .isNotInstanceOf(RetriableRemoteStorageException.class)
        .hasMessageContaining(index.toString());
    assertThat(failures(Operation.INDEX, Cause.CORRUPT)).isEqualTo(1);
    assertThat(failures(Operation.FETCH, Cause.CORRUPT)).isEqualTo(1);
  }

  private long failures(Operation operation, Cause cause) {
    RemoteStats.OperationMeter meter = stats().operations().get(operation);
    return meter == null ? -1 : meter.failures().getOrDefault(cause, 0L);
  }

  private Path find(String suffix) throws IOException {
    return ChangingTree.file(ssd, suffix);
  }

  @Test
  void aCopyThatHangsEndsInItsTimeAndLeavesNothing() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    stages =
        stage -> {
          if (stage == StoreStage.COPY_MANIFEST_WRITTEN) {
            waitFor(release);
          }
        };
    StrataRemoteStorageManager manager = manager(settings(Duration.ofMillis(1500), ssd));
    RemoteLogSegmentMetadata segment = metadata(0);
    LogSegmentData data = data(0, false);
    assertThatThrownBy(() -> manager.copyLogSegmentData(segment, data))
        .isInstanceOf(RetriableRemoteStorageException.class)
        .hasMessageContaining("orders-3, offsets 0 to 99")
        .hasMessageContaining("not done within 1500 ms");
    // The thread that waited for the directory's goes; the directory's stays.
    org.awaitility.Awaitility.await().until(() -> stats().stuckThreads() == 1);
    release.countDown();
    org.awaitility.Awaitility.await().until(() -> stats().stuckThreads() == 0);
    assertThatThrownBy(() -> manager.fetchLogSegment(segment, 0))
        .isInstanceOf(RemoteResourceNotFoundException.class);
    assertThat(ChangingTree.files(ssd)).noneMatch(p -> p.toString().endsWith(".log"));
    assertThat(failures(Operation.COPY, Cause.TIMEOUT)).isEqualTo(1);
  }

  /** Not ended by an interrupt, as a thread in the kernel is not. */
  private static void waitFor(CountDownLatch latch) {
    boolean waiting = true;
    while (waiting) {
      try {
        latch.await();
        waiting = false;
      } catch (InterruptedException e) {
        waiting = true;
      }
    }
  }

  @Test
  void anInterruptEndsAnOperationAndStaysSet() throws Exception {
    StrataRemoteStorageManager manager = manager();
    RemoteLogSegmentMetadata segment = copied(manager, 0);
    Thread.currentThread().interrupt();
    try {
      assertThatThrownBy(() -> manager.fetchLogSegment(segment, 0))
          .isInstanceOf(RetriableRemoteStorageException.class);
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
    assertThat(all(manager.fetchLogSegment(segment, 0))).hasSize(BYTES);
    assertThat(failures(Operation.FETCH, Cause.CANCELLED)).isEqualTo(1);
  }

  @Test
  void aFullStoreIsWorthARetry() throws Exception {
    RemoteSettings base = settings(Duration.ofSeconds(30), ssd);
    RemoteSettings tiny =
        new RemoteSettings(
            1,
            List.of(
                new StoreOptions.LevelOptions(
                    "ssd", List.of(new StoreOptions.Directory(ssd, OptionalLong.of(1000))))),
            Optional.empty(),
            base.chunkBytes(),
            base.live());
    StrataRemoteStorageManager manager = manager(tiny);
    LogSegmentData data = data(0, false);
    assertThatThrownBy(() -> manager.copyLogSegmentData(metadata(0), data))
        .isInstanceOf(RetriableRemoteStorageException.class)
        .hasMessageContaining("no space")
        .hasMessageContaining(ssd.toString());
    assertThat(failures(Operation.COPY, Cause.FULL)).isEqualTo(1);
  }

  @Test
  void badConfigurationIsOneClearError() {
    StrataRemoteStorageManager manager =
        new StrataRemoteStorageManager(environment(settings(Duration.ofSeconds(1), ssd)));
    assertThatThrownBy(() -> manager.configure(Map.of("bad", "x")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("bad: found it, expected none");
    assertThatThrownBy(() -> manager.fetchLogSegment(metadata(0), 0))
        .isInstanceOf(RemoteStorageException.class)
        .hasMessageContaining("not open");
    manager.close();
  }

  @Test
  void aPartOfTheJarIsRefused() {
    assertThatThrownBy(() -> new StrataRemoteStorageManager().configure(Map.of()))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("expected the one of Strata's jar");
  }

  @Test
  void logDirectoriesWithoutAClusterAreRefused() {
    FixedEnvironment unformatted = environment(settings(Duration.ofSeconds(1), ssd));
    unformatted.clusterId = Optional.empty();
    assertThatThrownBy(() -> new StrataRemoteStorageManager(unformatted).configure(Map.of()))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("found no cluster id in the log directories' meta.properties");
  }

  @Test
  void whatWasCopiedIsThereForTheNextProcess() throws Exception {
    StrataRemoteStorageManager first = manager();
    RemoteLogSegmentMetadata segment = copied(first, 0);
    RemoteLogSegmentMetadata next = copied(first, 100);
    first.close();
    StrataRemoteStorageManager second = manager();
    assertThat(all(second.fetchLogSegment(segment, 0))).isEqualTo(bytes(0, BYTES));
    assertThat(all(second.fetchLogSegment(next, 0))).isEqualTo(bytes(100, BYTES));
    org.awaitility.Awaitility.await().until(() -> stats().levels().get(0).segments() == 2);
  }

  @Test
  void theColdManagerGetsTheLowestLevelAndIsReadLikeTheRest() throws Exception {
    Path far = Files.createDirectory(top.resolve("far"));
    RemoteSettings settings =
        settings(
            Duration.ofSeconds(30),
            List.of(0.0),
            Optional.of(
                new ColdSettings(
                    DirectoryManager.class.getName(),
                    Optional.empty(),
                    Map.of("directory", far.toString()))),
            ssd);
    StrataRemoteStorageManager manager = manager(settings);
    RemoteLogSegmentMetadata segment = copied(manager, 0);
    org.awaitility.Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> stats().levels().get(1).segments() == 1);
    assertThat(ChangingTree.files(ssd)).noneMatch(p -> p.toString().endsWith(".log"));
    assertThat(all(manager.fetchLogSegment(segment, 0))).isEqualTo(bytes(0, BYTES));
    assertThat(all(manager.fetchLogSegment(segment, 70_000, 140_000)))
        .isEqualTo(Arrays.copyOfRange(bytes(0, BYTES), 70_000, 140_001));
    assertThat(all(manager.fetchIndex(segment, IndexType.OFFSET))).isEqualTo(bytes(1, 80));
    assertThat(stats().levels().get(1).counted().fetched().sum()).isPositive();
    manager.close();
    StrataRemoteStorageManager next = manager(settings);
    assertThat(all(next.fetchLogSegment(segment, 0))).isEqualTo(bytes(0, BYTES));
    next.deleteLogSegmentData(segment);
    assertThat(ChangingTree.files(far)).noneMatch(p -> !p.endsWith("closed"));
  }

  /** As one of a server of NFS that has gone; no key changes how long it has. */
  @Test
  @Tag("long")
  void aNewDirectoryThatDoesNotAnswerIsNamed() throws Exception {
    Path identity = ssd.resolve("strata-store.json");
    assertThat(new ProcessBuilder("mkfifo", identity.toString()).start().waitFor()).isZero();
    assertThatThrownBy(this::manager)
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(ssd + ": cannot be read: it did not answer within 10 s")
        .hasMessageNotContaining("timeout.ms");
    // What hangs in it ends.
    FileChannel.open(identity, StandardOpenOption.READ, StandardOpenOption.WRITE).close();
  }

  /** A server of NFS has given its lock away; the next round is far. */
  @Test
  void aBrokerWhoseLockHasGoneMovesNothingMore() throws Exception {
    Path far = Files.createDirectory(top.resolve("far"));
    inventory = Duration.ofHours(1);
    StrataRemoteStorageManager manager =
        manager(
            settings(
                Duration.ofSeconds(30),
                List.of(0.0),
                Optional.of(
                    new ColdSettings(
                        DirectoryManager.class.getName(),
                        Optional.empty(),
                        Map.of("directory", far.toString()))),
                ssd));
    org.awaitility.Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> stats().migration().isPresent());
    Path unused = Files.writeString(ssd.resolve("locks/mover.mark"), "another broker's");
    RemoteLogSegmentMetadata segment = copied(manager, 0);
    org.awaitility.Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> stats().migration().orElseThrow().meters().cancelled().sum() > 0);
    assertThat(stats().levels().get(1).segments()).isZero();
    assertThat(all(manager.fetchLogSegment(segment, 0))).isEqualTo(bytes(0, BYTES));
  }

  /** Kafka takes "not found" for an empty index, and would return aborted records. */
  @Test
  void aLostTransactionIndexIsNotToldAsNone() throws Exception {
    StrataRemoteStorageManager manager = manager();
    RemoteLogSegmentMetadata segment = metadata(0);
    var unused = manager.copyLogSegmentData(segment, data(0, true));
    Files.delete(find(".txnindex"));
    assertThatThrownBy(() -> manager.fetchIndex(segment, IndexType.TRANSACTION))
        .isInstanceOf(RemoteStorageException.class)
        .isNotInstanceOf(RemoteResourceNotFoundException.class);
    manager.deleteLogSegmentData(segment);
    assertThatThrownBy(() -> manager.fetchIndex(segment, IndexType.TRANSACTION))
        .isInstanceOf(RemoteStorageException.class)
        .isNotInstanceOf(RemoteResourceNotFoundException.class);
    assertThatThrownBy(() -> manager.fetchIndex(segment, IndexType.OFFSET))
        .isInstanceOf(RemoteResourceNotFoundException.class);
  }

  /** The copy that was known has gone just now, and the other one is damaged. */
  @Test
  void aDamagedTransactionIndexOfTheOtherCopyIsNotToldAsNone() throws Exception {
    Path hdd = Files.createDirectory(top.resolve("hdd"));
    RemoteSettings one = settings(Duration.ofSeconds(30), ssd);
    RemoteSettings two =
        new RemoteSettings(
            1,
            List.of(
                one.levels().get(0),
                new StoreOptions.LevelOptions(
                    "hdd", List.of(new StoreOptions.Directory(hdd, OptionalLong.of(1 << 26))))),
            Optional.empty(),
            1 << 16,
            one.live());
    StrataRemoteStorageManager manager = manager(two);
    RemoteLogSegmentMetadata segment = metadata(0);
    var unused = manager.copyLogSegmentData(segment, data(0, true));
    assertThat(all(manager.fetchIndex(segment, IndexType.TRANSACTION))).hasSize(34);
    Path upper = Objects.requireNonNull(find(".txnindex").getParent());
    Path lower = hdd.resolve(ssd.relativize(upper));
    copyTree(upper, lower);
    Path damaged = Files.write(lower.resolve(find(".txnindex").getFileName()), new byte[34]);
    assertThat(damaged).exists();
    Path gone = Files.move(upper, ssd.resolve("trash").resolve("gone"));
    assertThat(gone).exists();

    assertThatThrownBy(() -> manager.fetchIndex(segment, IndexType.TRANSACTION))
        .isInstanceOf(RemoteStorageException.class)
        .isNotInstanceOf(RemoteResourceNotFoundException.class);
  }

  private static long millis(ThrowingCallable call) {
    long begun = System.nanoTime();
    assertThatThrownBy(call).isInstanceOf(Exception.class);
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
  }

  private static Runnable away(Path path) throws IOException {
    Path hidden = Files.move(path, path.resolveSibling(path.getFileName() + "-away"));
    return () -> {
      try {
        Path unused = Files.move(hidden, path);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    };
  }

  /**
   * Kafka answers the consumer after half a second, without an error: then every client goes on.
   */
  @Test
  void aReadOfAStoreThatIsAwayOutlastsKafkasOwnWait() throws Exception {
    StrataRemoteStorageManager manager = manager();
    RemoteLogSegmentMetadata whole = copied(manager, 0);
    Runnable back = away(ssd);
    for (ThrowingCallable read :
        List.<ThrowingCallable>of(
            () -> all(manager.fetchLogSegment(whole, 0)),
            () -> all(manager.fetchLogSegment(metadata(1000), 0)),
            () -> manager.fetchIndex(whole, IndexType.TIMESTAMP))) {
      long begun = System.nanoTime();
      assertThatThrownBy(read).isInstanceOf(Outages.Unanswered.class);
      assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun)).isBetween(600L, 5000L);
      Thread.sleep(60);
    }
    back.run();
    assertThat(all(manager.fetchLogSegment(whole, 0))).isEqualTo(bytes(0, BYTES));
  }

  @Test
  void aReadThatWaitsIsServedWhenTheStoreIsBack() throws Exception {
    StrataRemoteStorageManager manager = manager();
    RemoteLogSegmentMetadata whole = copied(manager, 0);
    Runnable back = away(ssd);
    CompletableFuture<byte[]> read =
        CompletableFuture.supplyAsync(() -> quietly(() -> all(manager.fetchLogSegment(whole, 0))));
    CompletableFuture<byte[]> index =
        CompletableFuture.supplyAsync(
            () -> quietly(() -> all(manager.fetchIndex(whole, IndexType.OFFSET))));
    Thread.sleep(300);
    back.run();
    assertThat(read.get(10, TimeUnit.SECONDS)).isEqualTo(bytes(0, BYTES));
    assertThat(index.get(10, TimeUnit.SECONDS)).isEqualTo(bytes(1, 80));
  }

  private static <T> T quietly(Callable<T> call) {
    try {
      return call.call();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** It stays an error; but a consumer would repeat it thousands of times a second. */
  @Test
  void aMissingSegmentStaysAnErrorAndIsPaced() throws Exception {
    StrataRemoteStorageManager manager = manager();
    RemoteLogSegmentMetadata whole = copied(manager, 0);
    Files.delete(find(".log"));
    long begun = System.nanoTime();
    assertThatThrownBy(() -> all(manager.fetchLogSegment(whole, 0)))
        .isInstanceOf(IOException.class);
    assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun)).isBetween(150L, 450L);
    assertThat(millis(() -> manager.fetchLogSegment(metadata(1000), 0))).isBetween(150L, 450L);
  }

  @Test
  void aReadThatAReplicaMakesOrThatIsNormalFailsAtOnce() throws Exception {
    StrataRemoteStorageManager manager = manager();
    RemoteLogSegmentMetadata whole = copied(manager, 0);
    assertThat(millis(() -> manager.fetchIndex(whole, IndexType.TRANSACTION))).isLessThan(400);
    Path unused = Files.move(ssd.resolve("strata-store.json"), top.resolve("away"));
    assertThat(millis(() -> manager.fetchIndex(metadata(1000), IndexType.PRODUCER_SNAPSHOT)))
        .isLessThan(400);
    assertThat(millis(() -> manager.fetchIndex(metadata(1000), IndexType.LEADER_EPOCH)))
        .isLessThan(400);
  }

  @Test
  void aFetchFromTheEndIsEmpty() throws Exception {
    StrataRemoteStorageManager manager = manager();
    RemoteLogSegmentMetadata whole = copied(manager, 0);
    assertThat(all(manager.fetchLogSegment(whole, BYTES))).isEmpty();
    assertThat(all(manager.fetchLogSegment(whole, BYTES, BYTES + 100))).isEmpty();
    assertThat(failures(Operation.FETCH, Cause.FAULT)).isZero();
  }

  /** A broker with a wrong clock takes it for a leftover, say. */
  @Test
  void aCopyWhoseStagingIsGoneIsNotToldAsMissingInTheStore() throws Exception {
    StrataRemoteStorageManager manager = manager();
    stages =
        stage -> {
          if (stage == StoreStage.COPY_INDEXES_WRITTEN) {
            try (Stream<Path> owners = Files.list(ssd.resolve("staging"))) {
              Path unused = Files.move(owners.findFirst().orElseThrow(), top.resolve("gone"));
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          }
        };
    assertThatThrownBy(() -> manager.copyLogSegmentData(metadata(0), data(0, false)))
        .isInstanceOf(RetriableRemoteStorageException.class);
  }

  /** Kafka takes "not found" for the store's answer, and the store has nothing to do with it. */
  @Test
  void aLocalFileThatIsGoneWhileItIsCopiedIsNotToldAsMissingInTheStore() throws Exception {
    StrataRemoteStorageManager manager = manager();
    for (boolean log : List.of(false, true)) {
      LogSegmentData data = data(0, true);
      Path gone = log ? data.logSegment() : data.offsetIndex();
      Files.delete(gone);
      assertThatThrownBy(() -> manager.copyLogSegmentData(metadata(0), data))
          .isInstanceOf(RetriableRemoteStorageException.class)
          .hasMessageContaining(gone + " is not there any more");
    }
    assertThat(failures(Operation.COPY, Cause.IO)).isEqualTo(2);
    assertThat(stats().levels().get(0).unavailableDirectories()).isZero();
  }
}
