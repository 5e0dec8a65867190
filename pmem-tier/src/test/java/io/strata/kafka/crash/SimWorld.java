package io.strata.kafka.crash;

import io.strata.kafka.pool.SimPools;
import io.strata.kafka.tier.SimTier;
import io.strata.kafka.tier.spec.TierEvents;
import io.strata.kafka.tier.spec.TierSpec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A machine of the simulation: a file system, pools, the tier over them, and what its segments must
 * be.
 *
 * <p>Thread safety: none.
 */
final class SimWorld {

  /** How a machine or process ended. */
  enum End {
    POWER_CUT,
    KILL
  }

  /** What a test does with calls that fail. */
  interface Faults {
    /** None fail. */
    Faults NONE =
        cause -> {
          throw new AssertionError(cause);
        };

    /** A move has failed, which the one who moves has to take. */
    void moveFailed(Throwable cause);
  }

  /** The log directory that workloads use. */
  static final String LOGS = "/logs";

  final Setup setup;
  final List<String> roots;
  final SimFileSystem disk;
  final List<SimMemory> memories;
  final TreeMap<Long, Expected> segments = new TreeMap<>();
  final List<String> failures = new ArrayList<>();
  private final long boot;
  private final TierEvents events =
      new TierEvents() {
        @Override
        public void backgroundFailure(String what, Exception cause) {
          failures.add(what + ": " + cause);
        }
      };

  /** Whether bytes that were not flushed may be gone, here or in a machine before this one. */
  private boolean exact;

  /** Whether bytes that were not flushed may have become others. */
  private boolean flipped;

  /** Whether no machine before this one has lost its power. */
  private boolean killed = true;

  private long nextOffset = 1;

  /** What each partition's directory has been called. */
  private final Map<String, Set<String>> directoryNames = new HashMap<>();

  private Faults faults = Faults.NONE;
  private @Nullable SimTier tier;
  private SimExecutor background = new SimExecutor();
  private final Map<Long, FileChannel> channels = new HashMap<>();

  private SimWorld(
      Setup setup, List<String> roots, SimFileSystem disk, List<SimMemory> memories, long boot) {
    this.setup = setup;
    this.roots = roots;
    this.disk = disk;
    this.memories = memories;
    this.boot = boot;
    this.exact = true;
  }

  /** A machine with empty pools and an empty log directory. */
  static SimWorld create(Setup setup) throws IOException {
    return create(setup, List.of(LOGS));
  }

  /** A machine with empty pools and empty log directories. */
  static SimWorld create(Setup setup, List<String> roots) throws IOException {
    SimFileSystem disk = new SimFileSystem();
    for (int i = 0; i < roots.size(); i++) {
      Path logs = disk.getPath(roots.get(i));
      Files.createDirectory(logs);
      Files.getFileAttributeView(logs, UserDefinedFileAttributeView.class)
          .write(
              "strata.directory",
              ByteBuffer.wrap(
                  "00000000-0000-0001-0000-00000000000%d"
                      .formatted(i + 1)
                      .getBytes(StandardCharsets.UTF_8)));
      force(disk.getPath("/"));
      force(logs);
    }
    return new SimWorld(setup, roots, disk, setup.format(), 1);
  }

  /** The machine that a crash leaves. */
  SimWorld crash(End end, Loss loss) {
    List<SimMemory> left = new ArrayList<>();
    for (int i = 0; i < memories.size(); i++) {
      SimMemory memory = memories.get(i);
      left.add(
          end == End.KILL
              ? memory.kill()
              : memory.durability().survivesReboot() ? memory.powerCut(loss.mixed(i)) : emptied(i));
    }
    SimFileSystem leftLogFile = end == End.KILL ? disk.kill() : disk.powerCut(loss);
    SimWorld world =
        new SimWorld(setup, roots, leftLogFile, left, end == End.KILL ? boot : boot + 1);
    segments.forEach((offset, expected) -> world.segments.put(offset, expected.copy()));
    world.nextOffset = nextOffset;
    directoryNames.forEach((name, names) -> world.directoryNames.put(name, new TreeSet<>(names)));
    world.killed = killed && end == End.KILL;
    world.flipped = flipped || (end == End.POWER_CUT && loss.byFile());
    world.exact = exact && (end == End.KILL || setup.exact());
    return world;
  }

  /** A pool on a file system in memory, as a start creates it again. */
  private SimMemory emptied(int pool) {
    try {
      return setup.format().get(pool);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void points(Points points) {
    disk.points(points);
    memories.forEach(memory -> memory.points(points));
  }

  void calls(Calls calls) {
    disk.calls(calls);
    memories.forEach(memory -> memory.calls(calls));
  }

  void faults(Faults then) {
    faults = then;
  }

  void moveFailed(Throwable cause) {
    faults.moveFailed(cause);
  }

  /** Whether the process is there. */
  boolean isUp() {
    return tier != null;
  }

  private SimTier tier() {
    SimTier open = tier;
    if (open == null) {
      throw new IllegalStateException("not open");
    }
    return open;
  }

  SimTier openTier() {
    return tier();
  }

  SimExecutor background() {
    return background;
  }

  private TierSpec spec() {
    return SimTier.spec(
        setup.config(),
        setup.poolFiles(),
        Setup.OWNER,
        roots.stream().map(root -> disk.getPath(root)).toList());
  }

  private SimTier.PoolSource pools() {
    memories.forEach(SimMemory::reopen);
    List<Path> files = setup.poolFiles();
    return (file, type, owner) -> SimPools.open(memories.get(files.indexOf(file)), owner, boot);
  }

  void open() throws IOException {
    openBeforeLogs();
    openTier().logsLoaded();
  }

  /** Opens the tier as it is while Kafka loads the logs. */
  void openBeforeLogs() throws IOException {
    background = new SimExecutor();
    SimExecutor executor = background;
    tier = SimTier.open(spec(), events, pools(), () -> executor);
  }

  void close() throws IOException {
    SimTier closing = tier();
    tier = null;
    closeChannels();
    closing.close();
  }

  void closeChannels() throws IOException {
    for (FileChannel channel : channels.values()) {
      channel.close();
    }
    channels.clear();
  }

  Path path(Expected segment) {
    return disk.getPath(segment.root + "/" + segment.directory + "/" + segment.file);
  }

  static void force(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  FileChannel channel(Expected segment) throws IOException {
    FileChannel known = channels.get(segment.offset);
    if (known == null) {
      known = tier().open(path(segment));
      channels.put(segment.offset, known);
    }
    return known;
  }

  void closeChannel(Expected segment) throws IOException {
    FileChannel known = channels.remove(segment.offset);
    if (known != null) {
      known.close();
    }
  }

  Expected create(String directory) throws IOException {
    return create(LOGS, directory);
  }

  Expected create(String root, String directory) throws IOException {
    long offset = nextOffset++;
    Expected segment = new Expected(offset, root, directory, String.format("%020d.log", offset));
    segment.directories.addAll(directoryNames.getOrDefault(directory, Set.of()));
    segments.put(offset, segment);
    FileChannel unused = channel(segment);
    return segment;
  }

  /** Writes a segment as the JDK does: the tier does not know it, and nothing is forced. */
  void writePastTheTier(String directory, byte[] content) throws IOException {
    long offset = nextOffset++;
    Expected segment = new Expected(offset, LOGS, directory, String.format("%020d.log", offset));
    segments.put(offset, segment);
    Path unused = Files.write(path(segment), content);
    segment.content = content;
  }

  void append(Expected segment, byte[] more) throws IOException {
    byte[] before = segment.content;
    byte[] after = Arrays.copyOf(before, before.length + more.length);
    System.arraycopy(more, 0, after, before.length, more.length);
    FileChannel channel = channel(segment);
    Map<Long, Set<String>> renamed = renamedBeside(segment);
    channel.position(before.length);
    segment.after = Optional.of(after);
    ByteBuffer buffer = ByteBuffer.wrap(more);
    while (buffer.hasRemaining()) {
      int unused = channel.write(buffer);
    }
    segment.content = after;
    segment.after = Optional.empty();
    if (setup.exact()) {
      // Durable at once, in a pool or forced in the log file: it must not get ahead of renames.
      keepsRenames(segment, before.length, Integer.MAX_VALUE, renamed);
    }
  }

  /** Whether all of a segment is in a pool, where what is truncated does not come back. */
  private boolean inPool(Expected segment) throws IOException {
    var state = tier().segments().state();
    return state.segments().stream()
        .anyMatch(
            view ->
                view.name().id().baseOffset() == segment.offset
                    && view.tier() < state.tiers().size()
                    && !view.spilled());
  }

  /** By offset, what segments of its partition are not called any more, where that must last. */
  private Map<Long, Set<String>> renamedBeside(Expected segment) {
    Map<Long, Set<String>> names = new TreeMap<>();
    for (Expected other : segments.values()) {
      if (other.awaited
          && other.directory.equals(segment.directory)
          && !other.formerFiles().isEmpty()) {
        names.put(other.offset, other.formerFiles());
      }
    }
    return names;
  }

  /** From now on a power cut leaves these renames, or not the segment's change. */
  private static void keepsRenames(
      Expected segment, int longerThan, int shorterThan, Map<Long, Set<String>> names) {
    var order = new Expected.RenamedBefore(longerThan, shorterThan, names);
    if (!names.isEmpty() && segment.renamedBefore.stream().noneMatch(order::isCoveredBy)) {
      segment.renamedBefore.add(order);
    }
  }

  void truncate(Expected segment, int length) throws IOException {
    byte[] rest = Arrays.copyOf(segment.content, length);
    boolean pooled = inPool(segment);
    Map<Long, Set<String>> renamed = renamedBeside(segment);
    FileChannel channel = channel(segment);
    segment.after = Optional.of(rest);
    FileChannel unused = channel.truncate(length);
    int before = segment.content.length;
    segment.truncated(rest);
    segment.after = Optional.empty();
    if (pooled) {
      segment.truncatedInPool();
    }
    if (setup.exact()) {
      keepsRenames(segment, -1, before, renamed);
    }
  }

  /** As Kafka flushes a log: the segment, and the directory. */
  void flush(Expected segment) throws IOException {
    channel(segment).force(true);
    force(disk.getPath(segment.root + "/" + segment.directory));
    force(disk.getPath(segment.root));
    segment.flushed();
  }

  void rename(Expected segment, String directory, String file) throws IOException {
    Path from = path(segment);
    segment.called(directory, file);
    boolean last = isLast(segment);
    // A process that was killed may have been about to give it this name.
    segments.values().forEach(other -> other.mayBeCalledAgain(segment.offset, file));
    tier().move(from, disk.getPath("/logs/" + directory + "/" + file));
    segment.isNow(directory, file);
    if (last) {
      // What a truncation has removed must not come back beside what is written after it.
      segments.values().stream()
          .filter(other -> other.directory.equals(directory))
          .forEach(other -> other.awaited = !other.formerFiles().isEmpty());
    }
  }

  /** Whether its partition has no records behind a segment. */
  private boolean isLast(Expected segment) {
    return in(segment.directory).stream()
        .filter(other -> other.file.endsWith(".log") && other.offset > segment.offset)
        .allMatch(other -> other.content.length == 0);
  }

  void renameDirectory(String from, String to) throws IOException {
    List<Expected> inside =
        segments.values().stream()
            .filter(s -> s.state != Expected.State.GONE && s.directory.equals(from))
            .toList();
    Set<String> names = new TreeSet<>(directoryNames.getOrDefault(from, Set.of()));
    names.add(from);
    names.add(to);
    directoryNames.put(to, names);
    inside.forEach(segment -> segment.called(to, segment.file));
    tier().move(disk.getPath("/logs/" + from), disk.getPath("/logs/" + to));
    inside.forEach(segment -> segment.isNow(to, segment.file));
    // As Kafka does.
    force(disk.getPath("/logs"));
  }

  void delete(Expected segment) throws IOException {
    segment.state = Expected.State.MAYBE_GONE;
    if (tier().delete(path(segment))) {
      segment.state = Expected.State.GONE;
    }
  }

  List<Expected> in(String directory) {
    List<Expected> found = new ArrayList<>();
    for (Expected segment : segments.values()) {
      if (segment.state == Expected.State.LIVE && segment.directory.equals(directory)) {
        found.add(segment);
      }
    }
    return found;
  }

  byte[] read(Path file) throws IOException {
    try (FileChannel channel = tier().openToRead(file)) {
      return content(channel);
    }
  }

  static byte[] content(FileChannel channel) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate((int) channel.size());
    while (buffer.hasRemaining() && channel.read(buffer, buffer.position()) >= 0) {
      // Short reads are allowed.
    }
    if (buffer.hasRemaining()) {
      throw new IOException("found " + buffer.position() + " bytes of " + channel.size());
    }
    return buffer.array();
  }

  /** Every file that is a segment by its name, by base offset. */
  Map<Long, Path> files() throws IOException {
    Map<Long, Path> found = new TreeMap<>();
    for (String root : roots) {
      addFiles(disk.getPath(root), found);
    }
    return found;
  }

  private static void addFiles(Path root, Map<Long, Path> found) throws IOException {
    try (DirectoryStream<Path> partitions = Files.newDirectoryStream(root)) {
      for (Path partition : partitions) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(partition)) {
          for (Path file : files) {
            long offset = Long.parseLong(String.valueOf(file.getFileName()).substring(0, 20));
            Path other = found.put(offset, file);
            if (other != null) {
              throw new AssertionError("found segment " + offset + " in " + other + " and " + file);
            }
          }
        }
      }
    }
  }

  /**
   * What is found where the pools are lost: the valid batches that a log file begins with are those
   * that its segment begins with. Before the tier is opened.
   */
  void verifyWithoutPools() throws IOException {
    if (!exact || flipped) {
      return;
    }
    for (Map.Entry<Long, Path> each : files().entrySet()) {
      Expected expected = segments.get(each.getKey());
      Path file = each.getValue();
      if (expected != null && expected.state == Expected.State.LIVE && SimTier.hasTag(file)) {
        byte[] found = Files.readAllBytes(file);
        int valid = SimBatches.validLength(found);
        if (!expected.beginsWith(Arrays.copyOf(found, valid))) {
          throw new AssertionError(
              "%s has %d valid bytes, which are not the first ones of %s"
                  .formatted(file, valid, expected));
        }
      }
    }
  }

  /** Starts after the process has ended: everything is there, and the sums are right. */
  void recover() throws IOException {
    verifyWithoutPools();
    open();
    verify();
    verifyAccounts();
  }

  /** Compares all there is with what must be, as a reader sees it. */
  void verify() throws IOException {
    Map<Long, Path> files = files();
    for (Map.Entry<Long, Path> file : files.entrySet()) {
      Expected expected = segments.get(file.getKey());
      if (expected == null) {
        throw new AssertionError("found " + file.getValue() + ", expected no such segment");
      }
      verify(expected, file.getValue(), files);
    }
    for (Expected expected : segments.values()) {
      if (!files.containsKey(expected.offset) && expected.required(exact)) {
        throw new AssertionError("found no file of " + expected);
      }
    }
  }

  private void verify(Expected expected, Path file, Map<Long, Path> files) throws IOException {
    if (expected.state == Expected.State.GONE) {
      if (Files.size(file) == 0 && !tier().isHot(file)) {
        // A name that came back, as of any file whose directory was not forced, and nothing else.
        return;
      }
      throw new AssertionError("found " + file + ", whose deletion was durable");
    }
    String directory = String.valueOf(file.getName(1));
    if (!expected.directories.contains(directory)
        || !expected.files.contains(String.valueOf(file.getFileName()))) {
      throw new AssertionError("found " + expected + " as " + file);
    }
    boolean tailInLogFile = Files.size(file) >= Math.max(1, expected.content.length);
    boolean whole = killed || (setup.storesArePersisted() && !tailInLogFile);
    byte[] found = read(file);
    Optional<String> difference = difference(expected, found, whole);
    if (difference.isPresent()) {
      throw new AssertionError(file + ": " + difference.get() + "; expected " + expected);
    }
    if (exact) {
      verifyOrder(expected, found.length, files);
    }
  }

  /** Compares what the running process has of a segment with what it has been told. */
  void verifyRead(Expected expected) throws IOException {
    Path file = files().get(expected.offset);
    if (file == null) {
      if (expected.required(true)) {
        throw new AssertionError("found no file of " + expected);
      }
      return;
    }
    Optional<String> difference = expected.difference(read(file), true, true);
    if (difference.isPresent()) {
      throw new AssertionError(file + ": " + difference.get() + "; expected " + expected);
    }
  }

  private Optional<String> difference(Expected expected, byte[] found, boolean whole) {
    byte[] certain =
        flipped && !(exact && expected.promised)
            ? Arrays.copyOf(found, Math.min(found.length, expected.sure))
            : found;
    return expected.difference(certain, exact, whole);
  }

  private static void verifyOrder(Expected expected, int length, Map<Long, Path> files) {
    for (Expected.RenamedBefore order : expected.renamedBefore) {
      if (length > order.longerThan() && length < order.shorterThan()) {
        order
            .names()
            .forEach(
                (offset, names) -> {
                  Path other = files.get(offset);
                  if (other != null && names.contains(String.valueOf(other.getFileName()))) {
                    throw new AssertionError(
                        "found "
                            + other
                            + ", which had been renamed before "
                            + expected
                            + " was changed, and found that with "
                            + length
                            + " bytes");
                  }
                });
      }
    }
  }

  /** Takes what was found for what is, as Kafka does when it loads its logs. */
  void adopt(End end) throws IOException {
    if (end == End.POWER_CUT) {
      directoryNames.clear();
    }
    Map<Long, Path> files = files();
    for (Expected expected : List.copyOf(segments.values())) {
      Path file = files.get(expected.offset);
      boolean cutShort = expected.after.isPresent();
      expected.after = Optional.empty();
      if (file == null) {
        if (expected.state != Expected.State.GONE) {
          expected.state = end == End.POWER_CUT ? Expected.State.GONE : Expected.State.MAYBE_GONE;
        }
        continue;
      }
      expected.state = Expected.State.LIVE;
      expected.directory = String.valueOf(file.getName(1));
      expected.file = String.valueOf(file.getFileName());
      byte[] found = read(file);
      int valid = SimBatches.validLength(found);
      if (end == End.POWER_CUT) {
        expected.content = found;
        expected.flushed();
        expected.renamedBefore.clear();
        expected.directories.clear();
        expected.awaited = false;
        expected.files.clear();
        expected.called(expected.directory, expected.file);
      } else if (!Arrays.equals(found, expected.content)) {
        expected.truncated(found);
        expected.sure = Math.min(expected.sure, found.length);
      }
      expected.awaited = !expected.formerFiles().isEmpty();
      if (valid < found.length) {
        truncate(expected, valid);
      }
      if (end == End.KILL && cutShort && !(setup.exact() && isNewest(file, files.values()))) {
        // No client has an acknowledgement of these bytes; from here on the test expects what is
        // there. Of the
        // newest segment Kafka may acknowledge it without another word: to a producer that repeats.
        expected.promised = false;
        flush(expected);
      }
    }
  }

  /** As Kafka finds it: whatever is there by the name of a segment. */
  private static boolean isNewest(Path file, Collection<Path> files) {
    return files.stream()
        .filter(other -> Objects.equals(other.getParent(), file.getParent()))
        .filter(other -> other.toString().endsWith(".log"))
        .noneMatch(other -> other.toString().compareTo(file.toString()) > 0);
  }

  /** Has everything in the background done, and looks at the sums. */
  void verifyAccounts() throws IOException {
    background.settle();
    List<String> problems = new ArrayList<>(failures);
    problems.addAll(tier().problems());
    var report = tier().report();
    problems.addAll(report.orphaned());
    problems.addAll(report.kept());
    for (SimMemory memory : memories) {
      SimPools.check(memory).findings().forEach(finding -> problems.add(finding.toString()));
    }
    for (var usage : tier().segments().state().tiers()) {
      if (usage.dirtyBytes() + usage.cleanBytes() != usage.usedBytes()) {
        problems.add(usage.toString());
      }
    }
    if (!problems.isEmpty()) {
      throw new AssertionError(String.join("; ", problems));
    }
  }

  /** Drains everything, and looks at it as a stock broker would. */
  void drain() throws IOException {
    if (isUp()) {
      close();
    }
    SimExecutor executor = new SimExecutor();
    var report = SimTier.drain(spec(), events, pools(), () -> executor);
    if (!report.complete()) {
      throw new AssertionError("found " + report.kept() + " kept by a drain");
    }
    verifyPlain();
  }

  /** As {@link #verify}, past the tier. */
  void verifyPlain() throws IOException {
    Map<Long, Path> files = files();
    for (Expected expected : segments.values()) {
      Path file = files.get(expected.offset);
      if (file == null) {
        if (expected.required(exact)) {
          throw new AssertionError("found no file of " + expected + " after a drain");
        }
        continue;
      }
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
        Optional<String> difference = difference(expected, content(channel), false);
        if (difference.isPresent()) {
          throw new AssertionError(
              file + ", drained: " + difference.get() + "; expected " + expected);
        }
      } catch (NoSuchFileException e) {
        throw new AssertionError(e);
      }
      var attributes = Files.getFileAttributeView(file, UserDefinedFileAttributeView.class).list();
      if (!attributes.isEmpty()) {
        throw new AssertionError(file + ": found attributes " + attributes + " after a drain");
      }
    }
  }
}
