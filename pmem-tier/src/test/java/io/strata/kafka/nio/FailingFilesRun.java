package io.strata.kafka.nio;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.strata.kafka.crash.Call;
import io.strata.kafka.crash.FailingCall;
import io.strata.kafka.crash.FailingCall.Failure;
import io.strata.kafka.crash.FailingCall.Plan;
import io.strata.kafka.crash.FailingFiles;
import io.strata.kafka.crash.SimExecutor;
import io.strata.kafka.pool.PoolChecker;
import io.strata.kafka.tier.Batches;
import io.strata.kafka.tier.TierFixture;
import io.strata.kafka.tier.spec.TierEvents;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A short life of a broker on real files, through the real provider, below which a call fails. As
 * Kafka does, it works in a log directory until an {@link IOException}; what another one has goes
 * on. Then the process ends, by a kill and by a stop, the fault is gone, and everything is there.
 *
 * <p>Thread safety: none.
 */
final class FailingFilesRun {

  private static final String META = "version=1\ncluster.id=test-cluster\nnode.id=1\n";
  private static final int SPILLS = 3_000_000;

  private final TierFixture fixture;
  private final FailingCall calls;
  private final Optional<Plan> plan;
  private final List<KeptSegment> segments = new ArrayList<>();
  private final Map<KeptSegment, FileChannel> channels = new HashMap<>();
  private final List<String> failures = new ArrayList<>();
  private final FileSystem kafka;
  private final Path root;
  private SimExecutor background = new SimExecutor();
  private boolean up;
  private int seed;

  /** A broker on the files of a fixture. */
  private FailingFilesRun(TierFixture fixture, List<KeptSegment> kept, Optional<Plan> plan) {
    this.fixture = fixture;
    this.plan = plan;
    this.calls = new FailingCall(plan, fixture.root.resolve("logs").toString());
    FailingFiles files = new FailingFiles(FileSystems.getDefault(), calls);
    fixture.logDirectories.replaceAll(logs -> files.files().getPath(logs.toString()));
    kafka =
        new StrataFileSystemProvider(files, fixture::tier).getFileSystem(URI.create("file:///"));
    root = kafka.getPath(fixture.root.toString());
    kept.forEach(segment -> segments.add(segment.copy()));
    fixture.events =
        new TierEvents() {
          @Override
          public void backgroundFailure(String what, Exception cause) {
            failures.add(what + ": " + cause);
          }
        };
  }

  /** What each run begins with: segments of every kind, and a log directory beside. */
  record Beginning(TierFixture fixture, List<KeptSegment> kept) {

    static Beginning make(Path directory, Map<String, String> keys) throws IOException {
      TierFixture fixture = new TierFixture(directory).pool("strata.pool", 4 << 20);
      fixture.extra = keys;
      fixture.logDirectories.add(Files.createDirectory(fixture.root.resolve("other")));
      for (Path logs : fixture.logDirectories) {
        Files.writeString(logs.resolve("meta.properties"), META);
      }
      FailingFilesRun run = new FailingFilesRun(fixture, List.of(), Optional.empty());
      run.open();
      Files.createDirectory(run.root.resolve("other/beside-0"));
      run.append(run.create("other/beside-0", 0), 1000);
      Files.createDirectory(run.root.resolve("logs/old-0"));
      for (int offset = 0; offset < 3; offset++) {
        run.append(run.create("logs/old-0", offset), 50_000);
      }
      for (KeptSegment segment : run.segments.subList(1, 3)) {
        run.moving(() -> fixture.destage(run.path(segment), 1));
      }
      run.moving(() -> fixture.evict(run.path(run.segments.get(1))));
      run.close();
      return new Beginning(fixture, run.segments);
    }

    private FailingFilesRun in(Path directory, Optional<Plan> plan) throws IOException {
      return new FailingFilesRun(fixture.copyTo(Files.createDirectory(directory)), kept, plan);
    }

    /** How many calls of each kind a life makes. */
    Map<Call, Long> count(Path directory) throws IOException {
      FailingFilesRun run = in(directory, Optional.empty());
      run.live();
      run.close();
      return run.calls.counts();
    }

    /** Lives with a call that fails, and after it. */
    void run(Path directory, Plan plan) {
      try {
        FailingFilesRun run = in(directory.resolve("live"), Optional.of(plan));
        try {
          run.live();
          run.end(Files.createDirectory(directory.resolve("killed")));
        } catch (IOException | RuntimeException | Error e) {
          throw new AssertionError(plan + " (" + run.calls.where() + "): " + e, e);
        } finally {
          boolean unused = Thread.interrupted();
          run.calls.arm(false);
          run.fixture.close();
        }
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }
  }

  private void open() throws IOException {
    background = new SimExecutor();
    var unused = fixture.openWith(background);
    up = true;
  }

  private void close() throws IOException {
    up = false;
    for (FileChannel channel : channels.values()) {
      channel.close();
    }
    channels.clear();
    fixture.close();
  }

  private KeptSegment create(String partition, long offset) throws IOException {
    KeptSegment segment = new KeptSegment(String.format("%s/%020d.log", partition, offset));
    segment.mayBeGone = true; // Nobody waits for one without records.
    segments.add(segment);
    FileChannel unused = channel(segment);
    return segment;
  }

  private Path path(KeptSegment segment) {
    return root.resolve(segment.names.iterator().next());
  }

  private FileChannel channel(KeptSegment segment) throws IOException {
    FileChannel known = channels.get(segment);
    if (known == null) {
      known = FileChannel.open(path(segment), TierFixture.KAFKA);
      channels.put(segment, known);
    }
    return known;
  }

  private void append(KeptSegment segment, int length) throws IOException {
    byte[] more = Batches.of(length, seed++);
    byte[] all = Arrays.copyOf(segment.content, segment.content.length + more.length);
    System.arraycopy(more, 0, all, segment.content.length, more.length);
    FileChannel channel = channel(segment).position(segment.content.length);
    segment.after = Optional.of(all);
    ByteBuffer buffer = ByteBuffer.wrap(more);
    while (buffer.hasRemaining()) {
      int unused = channel.write(buffer);
    }
    segment.content = all;
    segment.after = Optional.empty();
    segment.mayBeGone = false;
  }

  private void truncate(KeptSegment segment, int length) throws IOException {
    byte[] rest = Arrays.copyOf(segment.content, length);
    FileChannel channel = channel(segment);
    segment.after = Optional.of(rest);
    FileChannel unused = channel.truncate(length);
    segment.content = rest;
    segment.after = Optional.empty();
  }

  private void flush(KeptSegment segment) throws IOException {
    channel(segment).force(true);
    try (FileChannel directory =
        FileChannel.open(path(segment).getParent(), StandardOpenOption.READ)) {
      directory.force(true);
    }
  }

  private void delete(KeptSegment segment) throws IOException {
    String name = segment.names.iterator().next();
    segment.names.add(name + ".deleted");
    Path unused =
        Files.move(
            root.resolve(name), root.resolve(name + ".deleted"), StandardCopyOption.ATOMIC_MOVE);
    segment.isNow(name + ".deleted");
    work();
    segment.mayBeGone = true;
    Files.delete(path(segment));
    segment.gone = true;
    FileChannel open = channels.remove(segment);
    if (open != null) {
      open.close();
    }
  }

  private void renameDirectory(KeptSegment inside, String from, String to) throws IOException {
    String name = inside.names.iterator().next();
    inside.names.add(name.replace(from, to));
    Path unused = Files.move(root.resolve(from), root.resolve(to), StandardCopyOption.ATOMIC_MOVE);
    inside.isNow(name.replace(from, to));
  }

  private interface Move {
    Object run() throws IOException, InterruptedException;
  }

  /** The engine goes on after a move that fails. */
  private void moving(Move move) {
    try {
      Object unused = move.run();
    } catch (IOException | OutOfMemoryError e) {
      requireFault(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private void work() {
    background.settle();
    boolean unused = Thread.interrupted();
  }

  private void requireFault(Throwable cause) {
    boolean unused = Thread.interrupted();
    if (calls.failed() == 0) {
      throw new AssertionError("found an error before any call had failed", cause);
    }
  }

  /** Works until the end, or until Kafka takes the log directory offline. */
  private void live() throws IOException {
    calls.arm(true);
    try {
      open();
      if (fixture.tier().skippedLogDirectories().isEmpty()) {
        script();
      }
    } catch (IOException | OutOfMemoryError e) {
      requireFault(e); // The start was refused, or the log directory is offline.
    } finally {
      boolean unused = Thread.interrupted();
    }
    if (up) {
      work();
      goOnBeside();
      read();
    }
  }

  /** Each thing that Kafka does with segments, or an engine. */
  private void script() throws IOException {
    Path logs = root.resolve("logs");
    requireMeta(logs);
    for (KeptSegment old : segments.subList(1, 4)) {
      old.verify(path(old));
    }
    append(segments.get(3), 5_000);
    Files.createDirectory(logs.resolve("orders-0"));
    KeptSegment first = create("logs/orders-0", 0);
    append(first, 30_000);
    append(first, 30_000);
    KeptSegment second = create("logs/orders-0", 1000);
    flush(first);
    append(second, SPILLS);
    moving(() -> fixture.destage(path(first), 1));
    moving(() -> fixture.evict(path(first)));
    moving(() -> fixture.goOn(path(second)));
    work();
    moving(() -> fixture.promote(path(first), 0));
    truncate(second, 40_000);
    append(second, 10_000);
    replaceCheckpoint(logs);
    Files.createDirectory(logs.resolve("gone-0"));
    KeptSegment gone = create("logs/gone-0", 0);
    append(gone, 20_000);
    renameDirectory(gone, "logs/gone-0", "logs/gone-0.0123456789abcdef0123456789abcdef-delete");
    delete(gone);
    Files.delete(logs.resolve("gone-0.0123456789abcdef0123456789abcdef-delete"));
    delete(first);
    delete(segments.get(1));
    ask(second, path(second));
    close();
    open();
    append(second, 10_000);
    flush(second);
  }

  private static void requireMeta(Path logs) throws IOException {
    if (!Files.readString(logs.resolve("meta.properties")).equals(META)) {
      throw new AssertionError("found another meta.properties");
    }
  }

  private static void replaceCheckpoint(Path logs) throws IOException {
    Path next = Files.writeString(logs.resolve("replication-offset-checkpoint.tmp"), "0", UTF_8);
    Path unused =
        Files.move(
            next, logs.resolve("replication-offset-checkpoint"), StandardCopyOption.ATOMIC_MOVE);
  }

  private static void ask(KeptSegment segment, Path file) throws IOException {
    long size = Files.size(file);
    if (size != segment.content.length) {
      throw new AssertionError("found a size of " + size + " of " + segment);
    }
    FileTime time = FileTime.fromMillis(1_700_000_000_000L);
    Path unused = Files.setLastModifiedTime(file, time);
    if (!Files.getLastModifiedTime(file).equals(time)
        || Files.getFileStore(file).getUsableSpace() < 0) {
      throw new AssertionError("found another time of " + segment);
    }
    try (Stream<Path> files = Files.list(file.getParent())) {
      if (files.noneMatch(file::equals)) {
        throw new AssertionError("found no " + file + " in its directory");
      }
    }
  }

  /** What has failed is one log directory, and not the other. */
  private void goOnBeside() throws IOException {
    try {
      append(segments.get(0), 700);
      segments.get(0).verify(path(segments.get(0)));
    } catch (IOException | OutOfMemoryError e) {
      requireFault(e);
      if (plan.filter(p -> p.failure() == Failure.MEMORY).isEmpty() && !interruptedStart()) {
        throw new AssertionError("the other log directory failed, too", e);
      }
    }
  }

  /** Nothing interrupts the thread in which Kafka starts; here that takes every directory away. */
  private boolean interruptedStart() {
    return plan.filter(p -> p.failure() == Failure.INTERRUPT).isPresent()
        && !fixture.tier().skippedLogDirectories().isEmpty();
  }

  /** What can be read is right. */
  private void read() {
    boolean skipped = !fixture.tier().skippedLogDirectories().isEmpty();
    for (KeptSegment segment : segments) {
      long before = calls.failed();
      try {
        Optional<Path> file = segment.file(root);
        if (file.isPresent()) {
          segment.verify(file.get());
        }
      } catch (IOException | OutOfMemoryError e) {
        boolean unused = Thread.interrupted();
        if (calls.failed() == before
            && !skipped
            && !segment.mayBeGone
            && plan.filter(Plan::isOnce).isPresent()) {
          throw new AssertionError(segment + " can be read no more", e);
        }
      }
    }
  }

  private void end(Path directory) throws IOException {
    if (calls.failed() == 0) {
      return; // Times differ from run to run, and so do the last few calls.
    }
    calls.arm(false);
    TierFixture killed = fixture.copyTo(directory);
    calls.arm(true);
    try {
      close();
    } catch (IOException | OutOfMemoryError e) {
      requireFault(e);
    }
    calls.arm(false);
    new FailingFilesRun(killed, segments, Optional.empty()).recover();
    new FailingFilesRun(fixture, segments, Optional.empty()).recover();
  }

  /** A start without the fault: everything is there, and works. */
  private void recover() throws IOException {
    open();
    if (!fixture.tier().skippedLogDirectories().isEmpty()) {
      throw new AssertionError("skipped " + fixture.tier().skippedLogDirectories());
    }
    requireMeta(root.resolve("logs"));
    for (KeptSegment segment : segments) {
      Optional<Path> file = segment.file(root);
      if (file.isPresent()) {
        segment.verify(file.get());
        segment.isNow(root.relativize(file.get()).toString());
        segment.content = Files.readAllBytes(file.get());
        segment.after = Optional.empty();
        if (file.get().toString().endsWith(".log")) {
          append(segment, 500);
          segment.verify(file.get());
        }
      }
    }
    work();
    if (!failures.isEmpty()) {
      throw new AssertionError("found failures in the background: " + failures);
    }
    close();
    var findings = PoolChecker.check(fixture.pools.get(0)).findings();
    if (!findings.isEmpty()) {
      throw new AssertionError("found in the pool: " + findings);
    }
  }
}
