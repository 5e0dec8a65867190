package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.EngineEvents;
import io.strata.kafka.migration.MigrationEngine;
import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.migration.plan.MigrationSettings;
import io.strata.kafka.migration.plan.PolicyRegistry;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.migration.remote.RemoteSettings.ColdSettings;
import io.strata.kafka.migration.remote.faults.FaultyFileSystem;
import io.strata.kafka.migration.remote.store.ColdCopies.ColdStorage;
import io.strata.kafka.migration.remote.store.SegmentStore;
import io.strata.kafka.migration.remote.store.SegmentStore.LogSource;
import io.strata.kafka.migration.remote.store.SegmentStore.StoreRefusedException;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess;
import io.strata.kafka.migration.remote.store.disk.StoreOptions;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.StoreStage;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreIdentity;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** Remote tiers over directories that hang or fail when a test says so, by a clock that it sets. */
final class TierBench implements RemoteEnvironment, AutoCloseable {

  static final int BYTES = 100_000;

  /** Of the file system that is asked; the tests wait for what comes of it, and not for this. */
  Duration patience = Duration.ofSeconds(2);

  final FaultyFileSystem files = new FaultyFileSystem();

  /** What the clock shows beyond the system's. */
  final AtomicLong aheadMillis = new AtomicLong();

  int broker = 1;
  double threshold = 1;
  Duration scrub = Duration.ZERO;
  Duration known = Duration.ofMillis(50);
  Duration fetchTimeout = Duration.ofSeconds(60);
  Duration deleteTimeout = Duration.ofSeconds(60);
  List<Path> memory = List.of();
  int segmentBytes = BYTES;
  Optional<ColdStorage> cold = Optional.empty();
  LongSupplier nanoTime = System::nanoTime;
  PageCacheFilling pageCache = (file, position, bytes) -> {};
  ThreadFactory threads = EngineEnvironment.system().threads();

  /** Fills the page cache. */
  interface PageCacheFilling {
    void fill(Path file, long position, long bytes);
  }

  private final Path top;
  private final List<StoreOptions.LevelOptions> levels = new ArrayList<>();
  private final List<RemoteTier> tiers = new ArrayList<>();
  private final List<SegmentStore> stores = new ArrayList<>();
  private final AtomicLong ids = new AtomicLong();

  TierBench(Path top) {
    this.top = top;
  }

  /** Adds a level. */
  TierBench level(String name, long capacityBytes, String... directories) throws IOException {
    List<StoreOptions.Directory> made = new ArrayList<>();
    for (String directory : directories) {
      Path real = Files.createDirectories(top.resolve(directory));
      made.add(new StoreOptions.Directory(files.wrap(real), OptionalLong.of(capacityBytes)));
    }
    levels.add(new StoreOptions.LevelOptions(name, made));
    return this;
  }

  Path directory(String name) {
    return top.resolve(name);
  }

  RemoteSettings settings() {
    return new RemoteSettings(
        broker,
        levels,
        cold.map(level -> new ColdSettings(level.className(), Optional.empty(), Map.of())),
        1 << 16,
        new RemoteSettings.Live(
            Duration.ofSeconds(60),
            fetchTimeout,
            deleteTimeout,
            known,
            scrub,
            Duration.ofHours(1),
            new MigrationSettings(
                cold.isPresent() ? MigrationSettings.Mode.THRESHOLD : MigrationSettings.Mode.EAGER,
                Collections.nCopies(levels.size() - 1 + (cold.isPresent() ? 1 : 0), threshold),
                0.05,
                false,
                1,
                0,
                0,
                Duration.ofMillis(50),
                "newest",
                Map.of(),
                List.of())));
  }

  /** A broker's tier. */
  RemoteTier open() throws IOException, StoreRefusedException {
    RemoteSettings settings = settings();
    SegmentStore store =
        new SegmentStore(
            new StoreOptions(
                settings.levels(),
                broker,
                "cluster",
                memory,
                engine().clock(),
                StoreStage.Hook.NONE,
                StoreIdentity::read,
                new DirectoryAccess.Threads(
                    Optional.of(threads), patience, () -> nanoTime.getAsLong())),
            cold);
    stores.add(store);
    RemoteTier tier = new RemoteTier(settings, this, store, Optional.empty());
    tiers.add(tier);
    return tier;
  }

  /** The store of the tier that was opened last. */
  SegmentStore store() {
    return stores.get(stores.size() - 1);
  }

  static RemoteStats stats(RemoteTier tier) {
    return tier.stats();
  }

  /** A segment of its own partition. */
  SegmentInfo segment() {
    long id = ids.incrementAndGet();
    return new SegmentInfo(
        new SegmentKey(
            "orders",
            "AAAAAAAAAAAAAAAAAAAAAQ",
            (int) id,
            0,
            String.format(Locale.ROOT, "%022d", id)),
        99,
        1_700_000_000_000L + id,
        broker,
        1_700_000_000_000L + id,
        segmentBytes,
        new TreeMap<>(Map.of(0, 0L)),
        true);
  }

  void copy(RemoteTier tier, SegmentInfo segment) throws IOException, InterruptedException {
    Path local =
        files.wrap(Files.createDirectories(top.resolve("orders-" + segment.key().partition())));
    Path log = local.resolve(ObjectType.LOG.fileName(segment.key()));
    Path unused =
        Files.write(
            top.resolve("orders-" + segment.key().partition())
                .resolve(log.getFileName().toString()),
            bytes(segment));
    tier.copy(
        segment.key().toString(),
        segment,
        new LogSource(log, Map.of(), ByteBuffer.wrap(new byte[] {'0'})));
  }

  SegmentInfo copied(RemoteTier tier) throws IOException, InterruptedException {
    SegmentInfo segment = segment();
    copy(tier, segment);
    return segment;
  }

  static byte[] bytes(SegmentInfo segment) {
    byte[] bytes = new byte[segment.bytes()];
    new Random(segment.key().partition()).nextBytes(bytes);
    return bytes;
  }

  static byte[] read(RemoteTier tier, SegmentInfo segment)
      throws IOException, InterruptedException {
    try (InputStream stream =
        tier.open(segment.key().toString(), segment.key(), 0, Integer.MAX_VALUE)) {
      return stream.readAllBytes();
    }
  }

  /** Whether a segment can be read now. */
  static boolean isRead(RemoteTier tier, SegmentInfo segment) throws InterruptedException {
    try {
      return read(tier, segment).length == segment.bytes();
    } catch (IOException e) {
      return false;
    }
  }

  /** How many segments' logs are in a directory. */
  long logs(String directory) throws IOException {
    return ChangingTree.files(top.resolve(directory).resolve("topics")).stream()
        .filter(p -> p.toString().endsWith(".log"))
        .count();
  }

  @Override
  public RemoteSettings settings(Map<String, ?> configs) {
    return settings();
  }

  @Override
  public void onChange(Consumer<RemoteSettings.Live> changed) {}

  @Override
  public Optional<String> clusterId() {
    return Optional.of("cluster");
  }

  @Override
  public List<Path> logDirectories() {
    return List.of();
  }

  @Override
  public MigrationEngine migrationEngine(
      TieredSegments tiers,
      MigrationSettings settings,
      List<String> levels,
      Optional<MigrationStats> earlier) {
    PolicyRegistry policies = PolicyRegistry.load(getClass().getClassLoader());
    return new MigrationEngine(
        tiers, settings, policies, List.of(), EngineEvents.NONE, engine(), earlier);
  }

  @Override
  public void fillPageCache(Path file, long position, long bytes) {
    pageCache.fill(file, position, bytes);
  }

  @Override
  public EngineEnvironment engine() {
    return new EngineEnvironment(
        () -> Instant.now().plusMillis(aheadMillis.get()),
        nanoTime,
        task -> threads.newThread(task));
  }

  @Override
  public void publish(Supplier<RemoteStats> stats) {}

  @Override
  public void close() {
    tiers.forEach(RemoteTier::close);
  }
}
