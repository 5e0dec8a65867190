package io.strata.kafka.tier;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.crash.SimExecutor;
import io.strata.kafka.crash.SimFileSystem;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.migration.CorruptSegmentException;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.pool.SimPools;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.segment.SparseMemory;
import io.strata.kafka.tier.directory.Directories;
import io.strata.kafka.tier.offline.Drain;
import io.strata.kafka.tier.spec.TierEvents;
import io.strata.kafka.tier.spec.TierSpec;
import io.strata.kafka.turns.Play;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.Callable;

/**
 * A whole tier over pools that are too small. One thread appends to the newest segment, which has
 * clean ones evicted; a second one does to the older ones what Kafka does: it opens and closes
 * them, truncates, appends, renames and deletes; a third moves them; a fourth does the work in the
 * background; a fifth reads. In the end all is there, the sums are right, and a drain leaves what a
 * broker without Strata would have.
 */
public final class TierPlay implements Play {

  private static final PoolOwner OWNER = PoolOwner.of(1, "cluster");
  private static final int MEMORY = 4 << 20;
  private static final int BLOCK = 64 << 10;
  private static final int BLOCKS = 8;
  private static final int SLOTS = 6;
  private static final int OLDER = 2;
  private static final int APPENDS = 4;
  private static final int CHANGES = 12;
  private static final int MOVES = 10;
  private static final int READS = 8;
  private static final int WORK = 40;
  private static final List<byte[]> BATCHES = batches();
  private static final List<SparseMemory> FORMATTED = formatted();

  private final SplittableRandom random;
  private final SimFileSystem files = new SimFileSystem();
  private final List<SparseMemory> memories = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();
  private final TierEvents events =
      new TierEvents() {
        @Override
        public void backgroundFailure(String what, Exception cause) {
          failures.add(what + ": " + cause);
        }
      };
  private final List<Expected> segments = new ArrayList<>();
  private SimExecutor background = new SimExecutor();
  private SimTier tier;
  private int batchesUsed;

  private int appendsBegun;

  /** Less than begun while a segment is appended to: it may end within a batch. */
  private int appendsEnded;

  /** What a segment must be. */
  private static final class Expected {
    private Path file;
    private Optional<FileChannel> channel = Optional.empty();

    /** What it has, and what it will have when a write has ended. */
    private byte[] content = new byte[0];

    private int certain;

    /** Where its first append ended. */
    private int first;

    /** Odd while it is truncated, renamed or deleted: a reader must look again. */
    private int era;

    private boolean deleted;

    Expected(Path file) {
      this.file = file;
    }
  }

  /** Made by its name. */
  public TierPlay(long seed) throws Exception {
    random = new SplittableRandom(seed);
    Path logs = files.getPath("/logs");
    Files.createDirectory(logs);
    Files.createDirectory(logs.resolve("orders-0"));
    FORMATTED.forEach(memory -> memories.add(new SparseMemory(memory)));
    tier = open();
    for (int i = 0; i < OLDER; i++) {
      Expected segment = add(i);
      for (int n = 1 + random.nextInt(2); n > 0; n--) {
        append(segment);
      }
      if (random.nextBoolean()) {
        close(segment);
      }
    }
    Expected unused = add(OLDER);
    if (random.nextBoolean()) {
      background.runAll();
    }
    for (int i = random.nextInt(5); i > 0; i--) {
      move();
    }
  }

  private static List<byte[]> batches() {
    List<byte[]> batches = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      batches.add(Batches.of(30_000, i));
    }
    return batches;
  }

  private static List<SparseMemory> formatted() {
    try {
      List<SparseMemory> memories = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        SparseMemory memory = new SparseMemory(MEMORY);
        SimPools.format(
            memory,
            PoolSpec.of(poolFile(i), MemoryType.MAPPED, MEMORY)
                .withSlotCount(SLOTS)
                .withOwner(OWNER),
            new UUID(7, i),
            BLOCKS * BLOCK);
        memories.add(memory);
      }
      return memories;
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Path poolFile(int i) {
    return Path.of("/strata-play/" + i + ".pool");
  }

  private TierSpec spec() {
    Map<String, String> keys = new HashMap<>();
    keys.put("strata.tiers", "fast,slow");
    keys.put("strata.pool.type", "mapped");
    keys.put("strata.tier.fast.pools", poolFile(0).toString());
    keys.put("strata.tier.slow.pools", poolFile(1).toString());
    StrataConfig config = StrataConfig.parse(keys).config().orElseThrow();
    return SimTier.spec(
        config, List.of(poolFile(0), poolFile(1)), OWNER, List.of(files.getPath("/logs")));
  }

  private SimTier.PoolSource pools() {
    return (file, type, owner) ->
        SimPools.open(memories.get(file.equals(poolFile(0)) ? 0 : 1), owner, 1);
  }

  private SimTier open() throws IOException {
    background = new SimExecutor();
    SimExecutor executor = background;
    SimTier opened = SimTier.open(spec(), events, pools(), () -> executor);
    opened.logsLoaded();
    return opened;
  }

  private Expected add(int number) throws IOException {
    Expected segment =
        new Expected(files.getPath("/logs/orders-0/" + String.format("%020d.log", number)));
    segments.add(segment);
    FileChannel unused = channel(segment);
    return segment;
  }

  private FileChannel channel(Expected segment) throws IOException {
    if (segment.channel.isEmpty()) {
      segment.channel = Optional.of(tier.open(segment.file));
    }
    return segment.channel.get();
  }

  private static void close(Expected segment) throws IOException {
    if (segment.channel.isPresent()) {
      segment.channel.get().close();
      segment.channel = Optional.empty();
    }
  }

  @Override
  public List<Callable<?>> parts() {
    return List.of(this::appendToNewest, this::changeOlder, this::moveAll, this::work, this::read);
  }

  /** What comes after a truncation is written where a reader may still be; it is not looked at. */
  @Override
  public boolean mayRace(int one, int other) {
    return one != 0 && other != 0;
  }

  private void append(Expected segment) throws IOException {
    byte[] more = BATCHES.get(batchesUsed++ % BATCHES.size());
    byte[] before = segment.content;
    byte[] after = Arrays.copyOf(before, before.length + more.length);
    System.arraycopy(more, 0, after, before.length, more.length);
    FileChannel channel = channel(segment);
    segment.content = after;
    appendsBegun++;
    ByteBuffer source = ByteBuffer.wrap(more);
    FileChannel unused = channel.position(before.length);
    while (source.hasRemaining()) {
      int unusedCount = channel.write(source);
    }
    appendsEnded++;
    segment.certain = after.length;
    segment.first = before.length == 0 ? after.length : segment.first;
  }

  private boolean appendToNewest() throws IOException {
    for (int i = 0; i < APPENDS; i++) {
      append(segments.get(OLDER));
    }
    return true;
  }

  private boolean changeOlder() throws IOException {
    for (int i = 0; i < CHANGES; i++) {
      Expected segment = segments.get(random.nextInt(OLDER));
      int kind = random.nextInt(20);
      if (segment.deleted) {
        continue;
      }
      if (kind < 3) {
        append(segment);
      } else if (kind < 5) {
        truncate(segment);
      } else if (kind < 11) {
        close(segment);
      } else if (kind < 17) {
        FileChannel unused = channel(segment);
      } else if (kind < 18) {
        channel(segment).force(true);
      } else if (kind < 19) {
        renameDirectory();
      } else {
        delete(segment);
      }
    }
    return true;
  }

  private void truncate(Expected segment) throws IOException {
    int length = random.nextBoolean() ? 0 : segment.first;
    if (length < segment.content.length) {
      segment.era++;
      segment.certain = Math.min(segment.certain, length);
      FileChannel unused = channel(segment).truncate(length);
      segment.content = Arrays.copyOf(segment.content, length);
      segment.era++;
    }
  }

  private void renameDirectory() throws IOException {
    Path from = Directories.of(segments.get(0).file);
    Path to = files.getPath("/logs/orders-" + (1 + random.nextInt(1_000_000)));
    segments.forEach(segment -> segment.era++);
    tier.move(from, to);
    for (Expected segment : segments) {
      segment.file = to.resolve(segment.file.getFileName());
      segment.era++;
    }
  }

  private void delete(Expected segment) throws IOException {
    segment.era++;
    Path target = segment.file.resolveSibling(segment.file.getFileName() + ".deleted");
    tier.move(segment.file, target);
    segment.file = target;
    boolean unused = tier.delete(target);
    segment.deleted = true;
    segment.era++;
    close(segment);
  }

  private boolean moveAll() throws Exception {
    for (int i = 0; i < MOVES; i++) {
      move();
    }
    return true;
  }

  private void move() throws Exception {
    TieredSegments moves = tier.segments();
    List<SegmentView> views = moves.state().segments();
    if (views.isEmpty()) {
      return;
    }
    SegmentView view = views.get(random.nextInt(views.size()));
    int logFile = moves.state().tiers().size();
    int endedBefore = appendsEnded;
    try {
      move(moves, view, logFile);
    } catch (CorruptSegmentException e) {
      if (appendsBegun == endedBefore) {
        throw e;
      }
    }
  }

  private void move(TieredSegments moves, SegmentView view, int logFile) throws Exception {
    MoveResult unused;
    if (view.spilled() && view.active()) {
      unused = moves.goOn(view.id(), view.tier(), MoveControl.UNLIMITED);
    } else if (view.active() && view.tier() == logFile) {
      unused = moves.goOn(view.id(), 0, MoveControl.UNLIMITED);
    } else if (view.evictable() && random.nextInt(4) > 0) {
      unused = moves.evict(view.id());
    } else if (view.tier() > 0 && random.nextInt(4) > 0) {
      unused = moves.promote(view.id(), random.nextInt(view.tier()), MoveControl.UNLIMITED);
    } else if (view.tier() < logFile) {
      int to = view.tier() + 1 + random.nextInt(logFile - view.tier());
      unused = moves.destage(view.id(), to, MoveControl.UNLIMITED);
    }
  }

  private boolean work() {
    for (int i = 0; i < WORK; i++) {
      if (!background.runOne() && i % 10 == 0) {
        background.runRepeated();
      }
    }
    return true;
  }

  private boolean read() throws IOException {
    for (int i = 0; i < READS; i++) {
      Expected segment = segments.get(random.nextInt(segments.size()));
      int era = segment.era;
      int certain = segment.certain;
      byte[] found;
      try {
        found = read(segment.file);
      } catch (IOException e) {
        if (segment.era == era && era % 2 == 0 && !segment.deleted) {
          throw e;
        }
        continue;
      }
      byte[] content = segment.content;
      if (segment.era == era && era % 2 == 0 && !segment.deleted) {
        if (found.length < certain) {
          throw new AssertionError(
              segment.file + ": found " + found.length + " bytes, expected " + certain);
        }
        compare(segment.file, found, Arrays.copyOf(content, found.length));
      }
    }
    return true;
  }

  private byte[] read(Path file) throws IOException {
    try (FileChannel channel = tier.openToRead(file)) {
      return content(channel);
    }
  }

  private static byte[] content(FileChannel channel) throws IOException {
    ByteBuffer target = ByteBuffer.allocate((int) channel.size());
    int read = 1;
    while (target.hasRemaining() && read > 0) {
      read = channel.read(target, target.position());
    }
    return Arrays.copyOf(target.array(), target.position());
  }

  private static void compare(Path file, byte[] found, byte[] expected) {
    int at = Arrays.mismatch(found, expected);
    if (at >= 0) {
      throw new AssertionError(
          "%s: found %d bytes, expected %d, and another one at %d"
              .formatted(file, found.length, expected.length, at));
    }
  }

  private void compareAll() throws IOException {
    for (Expected segment : segments) {
      if (segment.deleted == Files.exists(segment.file)) {
        throw new AssertionError(segment.file + ": deleted " + segment.deleted);
      }
      if (!segment.deleted) {
        compare(segment.file, read(segment.file), segment.content);
      }
    }
  }

  private void requireSound() {
    background.settle();
    List<String> problems = new ArrayList<>(failures);
    problems.addAll(tier.problems());
    if (!problems.isEmpty()) {
      throw new AssertionError(String.join("; ", problems));
    }
  }

  @Override
  public void end() throws IOException {
    compareAll();
    for (Expected segment : segments) {
      close(segment);
    }
    requireSound();
    tier.close();
    tier = open();
    compareAll();
    requireSound();
    tier.close();
    SimExecutor executor = new SimExecutor();
    Drain.Report report = SimTier.drain(spec(), events, pools(), () -> executor);
    if (!report.complete()) {
      throw new AssertionError("kept: " + report.kept());
    }
    for (Expected segment : segments) {
      if (!segment.deleted) {
        try (FileChannel channel = FileChannel.open(segment.file, StandardOpenOption.READ)) {
          compare(segment.file, content(channel), segment.content);
        } catch (NoSuchFileException e) {
          throw new AssertionError(e);
        }
      }
    }
  }
}
