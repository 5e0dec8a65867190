package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult.Outcome;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.segment.SegmentEvents;
import io.strata.kafka.tier.directory.TierParts;
import io.strata.kafka.tier.durable.BackgroundWork;
import io.strata.kafka.tier.spec.MoveStage;
import io.strata.kafka.tier.spec.TierEvents;
import io.strata.kafka.tier.spec.TierSpec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A tier over real pools and log directories below one temporary directory. */
public final class TierFixture implements AutoCloseable {

  public static final PoolOwner OWNER = PoolOwner.of(1, "test-cluster");
  public static final Set<StandardOpenOption> KAFKA =
      Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);

  public final Path root;
  public final List<Path> pools = new ArrayList<>();
  public final List<Path> logDirectories = new ArrayList<>();
  public TierEvents events = TierEvents.NONE;
  public Map<String, String> extra = Map.of();

  /** To be replaced before the tier is opened. */
  public TierParts.PoolOpening opening = TierParts.STANDARD.pools();

  /** May be replaced while the tier is open. */
  public volatile MoveStage.Hook hook = MoveStage.Hook.NONE;

  /** Whether its broker does not run for long enough to note what its start has missed. */
  public boolean endsAtOnce;

  private @Nullable HotTier tier;

  public TierFixture(Path root) throws IOException {
    this(root, FileSystemKind.JDK);
  }

  /** With log directories on a file system of a kind; pools are on the default one. */
  public TierFixture(Path root, FileSystemKind kind) throws IOException {
    this.root = root.toRealPath();
    logDirectories.add(kind.at(this.root.resolve("logs")));
  }

  /** A copy of another fixture's files. */
  private TierFixture(Path root, TierFixture original) throws IOException {
    this.root = root.toRealPath();
    original.pools.forEach(pool -> pools.add(this.root.resolve(original.root.relativize(pool))));
    original.logDirectories.forEach(
        logs ->
            logDirectories.add(
                this.root.resolve(original.root.relativize(Path.of(logs.toString())))));
    for (Map.Entry<String, String> key : original.extra.entrySet()) {
      extra = new HashMap<>(extra);
      extra.put(
          key.getKey(), key.getValue().replace(original.root.toString(), this.root.toString()));
    }
  }

  /** Two tiers, {@code fast} above {@code slow}, with a pool of {@code poolSize} bytes each. */
  public static TierFixture twoTiers(Path root, long poolSize) throws IOException {
    return new TierFixture(root)
        .pool("fast.pool", poolSize)
        .pool("slow.pool", poolSize)
        .inTiers("fast", "slow");
  }

  /** Makes a tier of each pool. */
  public TierFixture inTiers(String... names) {
    extra = new HashMap<>();
    extra.put("strata.tiers", String.join(",", names));
    for (int i = 0; i < names.length; i++) {
      extra.put("strata.tier." + names[i] + ".pools", pools.get(i).toString());
    }
    return this;
  }

  /**
   * All files as they are at this moment, with their attributes: what a process that is killed now
   * leaves behind.
   */
  public TierFixture copyTo(Path target) throws IOException {
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : files.toList()) {
        Path copy = target.resolve(root.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(copy);
        } else {
          Files.copy(file, copy);
        }
        copyAttributes(file, copy);
      }
    }
    return new TierFixture(target, this);
  }

  private static void copyAttributes(Path from, Path to) throws IOException {
    if (!Files.exists(to)) {
      return;
    }
    UserDefinedFileAttributeView source =
        Files.getFileAttributeView(from, UserDefinedFileAttributeView.class);
    UserDefinedFileAttributeView target =
        Files.getFileAttributeView(to, UserDefinedFileAttributeView.class);
    for (String name : source.list()) {
      ByteBuffer value = ByteBuffer.allocate(source.size(name));
      source.read(name, value);
      target.write(name, value.flip());
    }
  }

  /** A file's extended attributes. */
  public static Map<String, String> attributes(Path file) throws IOException {
    UserDefinedFileAttributeView view =
        Files.getFileAttributeView(file, UserDefinedFileAttributeView.class);
    Map<String, String> all = new TreeMap<>();
    for (String name : view.list()) {
      ByteBuffer value = ByteBuffer.allocate(view.size(name));
      view.read(name, value);
      all.put(name, Arrays.toString(value.array()));
    }
    return all;
  }

  public TierFixture pool(String name, long size) throws IOException {
    Path file = root.resolve(name);
    Pool.create(
        PoolSpec.of(file, MemoryType.MAPPED, size).withSlotCount(64).withOwner(OWNER),
        ProgressListener.NONE);
    pools.add(file);
    return this;
  }

  public TierSpec spec() {
    Map<String, String> keys = new HashMap<>(Map.of("strata.pool.type", "mapped"));
    keys.putAll(extra);
    if (!extra.containsKey("strata.tiers")) {
      keys.put("strata.pools", pools.stream().map(Path::toString).collect(Collectors.joining(",")));
    }
    StrataConfig config = StrataConfig.parse(keys).config().orElseThrow();
    return new TierSpec(
        config,
        pools,
        OWNER,
        logDirectories,
        config.placement(),
        Optional.empty(),
        stage -> hook.reached(stage));
  }

  public HotTier open() throws IOException {
    TierParts parts =
        new TierParts(opening, TierParts.STANDARD.background(), TierParts.STANDARD.time());
    HotTier opened = HotTier.open(spec(), events, SegmentEvents.NONE, parts);
    opened.logsLoaded();
    tier = opened;
    return opened;
  }

  /** As {@link #open}; nothing is done in the background. */
  public HotTier openWithoutBackground() throws IOException {
    ScheduledExecutorService idle =
        new ScheduledThreadPoolExecutor(0) {
          @Override
          public void execute(Runnable work) {}

          @Override
          public ScheduledFuture<?> schedule(Runnable work, long delay, TimeUnit unit) {
            throw new RejectedExecutionException();
          }

          @Override
          public ScheduledFuture<?> scheduleWithFixedDelay(
              Runnable work, long initial, long delay, TimeUnit unit) {
            return super.scheduleWithFixedDelay(() -> {}, 1, 1, TimeUnit.DAYS);
          }
        };
    return openWith(idle);
  }

  /** As {@link #open}; work in the background is another's. */
  public HotTier openWith(ScheduledExecutorService background) throws IOException {
    HotTier opened =
        HotTier.open(
            spec(),
            events,
            SegmentEvents.NONE,
            new TierParts(opening, () -> background, TierParts.STANDARD.time()));
    opened.logsLoaded();
    tier = opened;
    return opened;
  }

  public HotTier reopen() throws IOException {
    close();
    return open();
  }

  public HotTier tier() {
    return Objects.requireNonNull(tier);
  }

  public Path logs() {
    return logDirectories.get(0);
  }

  public Path partition(String name) throws IOException {
    return Files.createDirectories(logs().resolve(name));
  }

  public Path segment(String partition, long offset) throws IOException {
    return partition(partition).resolve(String.format("%020d.log", offset));
  }

  /** Opens as Kafka does, and appends. */
  public void append(Path file, byte[] bytes) throws IOException {
    try (FileChannel channel = tier().open(file, KAFKA).orElseThrow()) {
      ByteBuffer buffer = ByteBuffer.wrap(bytes);
      channel.position(channel.size());
      while (buffer.hasRemaining()) {
        channel.write(buffer);
      }
    }
  }

  public byte[] read(Path file) throws IOException {
    Optional<FileChannel> ours = tier().open(file, Set.of(StandardOpenOption.READ));
    try (FileChannel channel =
        ours.isPresent() ? ours.get() : FileChannel.open(file, StandardOpenOption.READ)) {
      return content(channel);
    }
  }

  public static byte[] content(FileChannel channel) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate((int) channel.size());
    while (buffer.hasRemaining() && channel.read(buffer, buffer.position()) >= 0) {
      // Short reads are allowed.
    }
    return buffer.array();
  }

  /** What the engine sees of a segment. */
  public SegmentView view(Path file) {
    return tier().tieredSegments().state().segments().stream()
        .filter(
            segment ->
                file.endsWith(String.format("%020d.log", segment.name().id().baseOffset()))
                    && file.toString().contains("/" + segment.name().id().topic() + "-"))
        .findAny()
        .orElseThrow();
  }

  public MoveResult destage(Path file, int toTier) throws IOException, InterruptedException {
    return tier().tieredSegments().destage(view(file).id(), toTier, MoveControl.UNLIMITED);
  }

  public MoveResult evict(Path file) throws IOException {
    return tier().tieredSegments().evict(view(file).id());
  }

  public MoveResult promote(Path file, int toTier) throws IOException, InterruptedException {
    return tier().tieredSegments().promote(view(file).id(), toTier, MoveControl.UNLIMITED);
  }

  public MoveResult goOn(Path file) throws IOException, InterruptedException {
    return tier().tieredSegments().goOn(view(file).id(), 0, MoveControl.UNLIMITED);
  }

  public static void assertDone(MoveResult result) {
    assertThat(result.outcome()).as(result.reason()).isEqualTo(Outcome.DONE);
  }

  /** What a test does in the middle of a move. */
  interface Step {
    void run() throws Exception;
  }

  /** Has something done when a move comes to a stage the next time. */
  void at(MoveStage stage, Step step) {
    hook =
        reached -> {
          if (reached == stage) {
            hook = MoveStage.Hook.NONE;
            try {
              step.run();
            } catch (Exception e) {
              throw new AssertionError(e);
            }
          }
        };
  }

  /** As {@link HotTier#refreshModificationTimes}, in this thread. */
  void refreshModificationTimesHere() {
    tier().backgroundWork().lanes().forEach(tier().modificationTimes()::refreshAll);
  }

  /** Keeps background work waiting, as slow disks do, until the answer is counted down. */
  CountDownLatch holdBackgroundWork() throws InterruptedException {
    List<BackgroundWork.Lane> lanes = tier().backgroundWork().lanes();
    CountDownLatch held = new CountDownLatch(lanes.size());
    CountDownLatch go = new CountDownLatch(1);
    for (BackgroundWork.Lane lane : lanes) {
      tier()
          .backgroundWork()
          .every(
              1,
              lane,
              "wait in a test",
              () -> {
                held.countDown();
                try {
                  go.await();
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
              });
    }
    held.await();
    return go;
  }

  /** Waits until background work that has been asked for is done. */
  public void awaitBackgroundWork() throws InterruptedException {
    List<BackgroundWork.Lane> lanes = tier().backgroundWork().lanes();
    CountDownLatch done = new CountDownLatch(lanes.size());
    for (BackgroundWork.Lane lane : lanes) {
      Runnable once = new FutureTask<>(done::countDown, null);
      tier().backgroundWork().every(1, lane, "end in a test", once);
    }
    done.await();
  }

  public static byte[] bytes(int length, long seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  @Override
  public void close() throws IOException {
    HotTier opened = tier;
    tier = null;
    if (opened != null) {
      if (!endsAtOnce) {
        opened.noteMissing();
      }
      opened.close();
      FileSystemKind.requireClosed(logs());
    }
  }
}
