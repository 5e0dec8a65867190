package io.strata.kafka.migration.remote.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.migration.remote.faults.FaultyFileSystem;
import io.strata.kafka.migration.remote.faults.FaultyFileSystem.Operation;
import io.strata.kafka.migration.remote.store.disk.Deadlines;
import io.strata.kafka.migration.remote.store.disk.Disk;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.disk.StoreOptions;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.StoreStage;
import io.strata.kafka.migration.remote.store.keep.CopyRepair;
import io.strata.kafka.migration.remote.store.keep.StoreTiers;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Each call of the file system fails in turn, once or from then on, while a segment is copied,
 * moved, repaired or deleted. When the fault is over, the segment is as the answer said, and
 * nothing is left of it once it is deleted.
 */
class StoreFailingCallsTest {

  private static final int BYTES = 150_000;

  private static final Set<Scenario> OF_COLD =
      Set.of(Scenario.TO_COLD, Scenario.DROP_LOG, Scenario.DELETE_COLD);

  @TempDir private Path top = Path.of("");
  private int runs;

  /** The work that meets the fault. */
  enum Scenario {
    COPY,
    DELETE,
    DESTAGE,
    EVICT,
    PROMOTE,
    TO_COLD,
    DROP_LOG,
    DELETE_COLD,
    REPAIR
  }

  /** What the kernel says, and of which calls. */
  private record Fault(String reason, boolean reads, boolean forGood) {}

  /** A store of two levels and a cold manager, with one segment. */
  private final class Run {
    private final FaultyFileSystem files = new FaultyFileSystem(true);
    private final FakeCold cold = new FakeCold();
    private final Path disk;
    private final SegmentStore store;
    private final StoreTiers tiers;
    private final SegmentInfo segment = Stores.info("t", 0, 100, 1, BYTES);
    private final Scenario scenario;
    private final boolean withCold;

    Run(Scenario scenario) throws Exception {
      this.scenario = scenario;
      withCold = OF_COLD.contains(scenario);
      disk = Files.createDirectory(top.resolve("run" + ++runs));
      for (String name : List.of("a", "b", "logs")) {
        Path unused = Files.createDirectory(disk.resolve(name));
      }
      store =
          Stores.open(
              Stores.options(
                  1,
                  List.of(files.wrap(disk.resolve("logs"))),
                  StoreStage.Hook.NONE,
                  Stores.level("ssd", OptionalLong.of(1 << 30), files.wrap(disk.resolve("a"))),
                  Stores.level("hdd", OptionalLong.of(1 << 30), files.wrap(disk.resolve("b")))),
              withCold ? Optional.of(cold) : Optional.empty());
      tiers =
          new StoreTiers(store, withCold ? List.of("ssd", "hdd", "cold") : List.of("ssd", "hdd"));
      if (scenario != Scenario.COPY) {
        var unused = Stores.copy(store, disk.resolve("local"), segment);
      }
      switch (scenario) {
        case DELETE, EVICT -> destage(1);
        case PROMOTE -> {
          destage(1);
          evict();
        }
        case DROP_LOG, DELETE_COLD -> destage(2);
        case REPAIR -> {
          destage(1);
          Path copy = Path.of(store.directories().get(0).segment(segment.key()).toString());
          Path file = copy.resolve(ObjectType.LOG.fileName(segment.key()));
          byte[] bytes = Files.readAllBytes(file);
          bytes[7] ^= 1;
          Path unused = Files.write(file, bytes);
          store.lookup.damaged(store.directories().get(0), segment.key(), "a bit is flipped");
        }
        default -> {}
      }
    }

    List<String> names() {
      return withCold ? List.of("ssd", "hdd", "cold") : List.of("ssd", "hdd");
    }

    /** Another broker's. */
    SegmentStore other() {
      return Stores.open(
          Stores.options(
              2,
              List.of(),
              StoreStage.Hook.NONE,
              Stores.level("ssd", OptionalLong.of(1 << 30), disk.resolve("a")),
              Stores.level("hdd", OptionalLong.of(1 << 30), disk.resolve("b"))),
          withCold ? Optional.of(cold) : Optional.empty());
    }

    private long id() {
      return store.known.find(segment.key().id()).orElseThrow().number();
    }

    private MoveResult destage(int to) throws Exception {
      return tiers.destage(id(), to, MoveControl.UNLIMITED);
    }

    private MoveResult evict() throws Exception {
      return tiers.evict(id());
    }

    /** Works; returns whether the answer was that it is done. */
    private boolean work() throws Exception {
      return switch (scenario) {
        case COPY -> {
          var unused = Stores.copy(store, disk.resolve("local"), segment);
          yield true;
        }
        case DELETE, DELETE_COLD -> {
          var unused = store.delete(segment);
          yield true;
        }
        case DESTAGE -> done(destage(1));
        case EVICT, DROP_LOG -> done(evict());
        case PROMOTE -> done(tiers.promote(id(), 0, MoveControl.UNLIMITED));
        case TO_COLD -> done(destage(2));
        case REPAIR -> {
          CopyRepair repair = new CopyRepair(store);
          var unused = repair.repair(repair.known().get(0), bytes -> {});
          yield true;
        }
      };
    }

    /** Works while another broker does something before a call; returns whether it came to that. */
    private boolean workBeside(int call, Runnable other) throws Exception {
      AtomicInteger calls = new AtomicInteger();
      Runnable over =
          files.fail(
              "never",
              (operation, path) -> {
                if (calls.getAndIncrement() == call) {
                  other.run();
                }
                return false;
              });
      try {
        boolean unused = work();
      } catch (IOException e) {
        // It is not where it was, or is gone.
      }
      over.run();
      return calls.get() > call;
    }

    private static boolean done(MoveResult result) {
      return result.outcome() == MoveResult.Outcome.DONE;
    }

    private void upkeep(boolean restart) throws Exception {
      SegmentStore by =
          restart
              ? Stores.open(store.options, withCold ? Optional.of(cold) : Optional.empty())
              : store;
      try (Deadlines calls = new Deadlines("test", 2, Thread::new)) {
        for (StoreDirectory directory : by.directories()) {
          assertThat(by.known.refresh(directory, () -> {})).isEmpty();
          assertThat(new StoreUpkeep(by).clear(directory, Duration.ofDays(1)).left()).isEmpty();
        }
        assertThat(new MoveConfirmation(by).settle()).isEmpty();
        assertThat(by.deletePending(calls, Duration.ofSeconds(30), () -> false)).isEmpty();
      }
    }

    private boolean isWhole() throws Exception {
      Optional<SegmentStore.Located> found = store.lookup.locate(segment.key());
      if (found.isEmpty()) {
        return false;
      }
      ByteBuffer bytes = ByteBuffer.allocate(BYTES);
      if (found.get().hasLog()) {
        bytes = ByteBuffer.wrap(Files.readAllBytes(found.get().file(ObjectType.LOG)));
      } else {
        store.lookup.readCold(store.lookup.copies(segment.key()).found().get(0), 0, bytes);
      }
      assertThat(bytes.array()).isEqualTo(Stores.bytes(segment.key().startOffset(), BYTES));
      return true;
    }

    private List<String> left() throws IOException {
      List<String> left = new ArrayList<>();
      for (StoreDirectory directory : store.directories()) {
        Stores.tree(directory.path()).stream()
            .filter(name -> Path.of(name).getNameCount() > directories(name))
            .forEach(left::add);
      }
      cold.segments.keySet().forEach(id -> left.add("cold " + id));
      return left;
    }

    /** Returns how many directories may stay: of a partition, and of a process that copies. */
    private static int directories(String name) {
      return name.startsWith("topics/") ? 4 : name.startsWith("staging/") ? 2 : 1;
    }

    /** A fault of a call is no damage. */
    private boolean hasDamage() throws IOException {
      for (StoreDirectory directory : store.directories()) {
        if (Stores.tree(directory.path()).stream().anyMatch(name -> name.endsWith("/damaged"))) {
          return true;
        }
      }
      return false;
    }
  }

  @ParameterizedTest
  @EnumSource
  void nothingIsLostAndNothingIsLeft(Scenario scenario) throws Exception {
    eachCallMeets(scenario, new Fault("Input/output error", true, false));
  }

  @Tag("long")
  @ParameterizedTest
  @EnumSource
  void nothingIsLostAndNothingIsLeftByOtherFaults(Scenario scenario) throws Exception {
    eachCallMeets(scenario, new Fault("No space left on device", false, false));
    eachCallMeets(scenario, new Fault("Read-only file system", false, true));
    eachCallMeets(scenario, new Fault("Stale file handle", true, true));
  }

  private void eachCallMeets(Scenario scenario, Fault fault) throws Exception {
    assertThat(count(call -> meets(scenario, fault, call))).isGreaterThan(5);
  }

  /** A run in which something happens at a call; returns whether so many calls were made. */
  private interface RunWithCall {
    boolean reaches(int call) throws Exception;
  }

  /** Runs with each call in turn, and counts them. */
  private static int count(RunWithCall run) throws Exception {
    int call = 0;
    while (run.reaches(call)) {
      call++;
    }
    return call;
  }

  private boolean meets(Scenario scenario, Fault fault, int call) throws Exception {
    Run run = new Run(scenario);
    AtomicInteger calls = new AtomicInteger();
    Runnable over =
        run.files.fail(
            fault.reason(),
            (operation, path) -> {
              if (operation != Operation.WRITE && !fault.reads()) {
                return false;
              }
              int number = calls.getAndIncrement();
              return fault.forGood() ? number >= call : number == call;
            });
    boolean done = false;
    Optional<Exception> failure = Optional.empty();
    try {
      done = run.work();
    } catch (IOException e) {
      failure = Optional.of(e);
    }
    over.run();
    String at = "%s, %s at call %d, %s %s".formatted(scenario, fault, call, done, failure);
    try {
      boolean deleted = scenario == Scenario.DELETE || scenario == Scenario.DELETE_COLD;
      if (!deleted && scenario != Scenario.COPY) {
        assertThat(run.isWhole()).as("at once").isTrue();
      }
      boolean restart = call % 2 == 1;
      boolean noted = run.store.deletions.has(run.segment);
      run.upkeep(restart);
      if (scenario == Scenario.COPY) {
        // A copy that can neither be taken back nor noted stays until Kafka deletes the segment.
        if (done || noted || !fault.forGood()) {
          assertThat(run.isWhole()).as("copied").isEqualTo(done);
        }
      } else if (deleted) {
        if (done) {
          assertThat(run.left()).isEmpty();
        }
      } else {
        assertThat(run.isWhole()).as("later").isTrue();
      }
      if (scenario != Scenario.REPAIR || done) {
        assertThat(run.hasDamage()).as("damage").isFalse();
      }
      run.upkeep(true);
      Map<StoreDirectory, Long> unused = run.store.delete(run.segment);
      run.upkeep(true);
      assertThat(run.left()).as("left after the deletion").isEmpty();
    } catch (AssertionError | IOException e) {
      throw new AssertionError(at + ": " + e.getMessage(), e);
    }
    Disk.removeTree(run.disk);
    return calls.get() > call;
  }

  /** Nothing of it stays, and nothing comes back. */
  @Tag("long")
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "COPY")
  void anotherBrokerDeletesAtEachCall(Scenario scenario) throws Exception {
    assertThat(count(call -> meetsDeletion(scenario, call))).isGreaterThan(5);
  }

  private boolean meetsDeletion(Scenario scenario, int call) throws Exception {
    Run run = new Run(scenario);
    SegmentStore other = run.other();
    boolean reached = run.workBeside(call, () -> delete(other, run.segment));
    try {
      run.upkeep(call % 2 == 1);
      if (reached) {
        assertThat(run.left()).isEmpty();
      }
    } catch (AssertionError | IOException e) {
      throw new AssertionError(scenario + " at call " + call + ": " + e.getMessage(), e);
    }
    Disk.removeTree(run.disk);
    return reached;
  }

  private static void delete(SegmentStore store, SegmentInfo segment) {
    try {
      Map<StoreDirectory, Long> unused = store.delete(segment);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Both take themselves for the one that moves; one evicts, or copies, meanwhile. */
  @Tag("long")
  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"COPY", "DELETE", "DELETE_COLD"})
  void anotherBrokerMovesAtEachCall(Scenario scenario) throws Exception {
    for (boolean evicts : List.of(true, false)) {
      assertThat(count(call -> meetsMove(scenario, evicts, call))).isGreaterThan(5);
    }
  }

  private boolean meetsMove(Scenario scenario, boolean evicts, int call) throws Exception {
    Run run = new Run(scenario);
    SegmentStore other = run.other();
    StoreTiers tiers = new StoreTiers(other, run.names());
    boolean reached =
        run.workBeside(call, () -> move(other, tiers, evicts, run.names().size() - 1));
    try {
      assertThat(run.isWhole()).as("at once").isTrue();
      run.upkeep(call % 2 == 1);
      assertThat(run.isWhole()).as("later").isTrue();
      run.upkeep(true);
      delete(run.store, run.segment);
      run.upkeep(true);
      assertThat(run.left()).isEmpty();
    } catch (AssertionError | IOException e) {
      throw new AssertionError(
          "%s at call %d, evicts %s: %s".formatted(scenario, call, evicts, e.getMessage()), e);
    }
    Disk.removeTree(run.disk);
    return reached;
  }

  private static void move(SegmentStore store, StoreTiers tiers, boolean evicts, int last) {
    try {
      for (StoreDirectory directory : store.directories()) {
        List<String> unused = store.known.refresh(directory, () -> {});
      }
      for (KnownSegment entry : store.known.entries()) {
        MoveResult unused =
            evicts
                ? tiers.evict(entry.number())
                : tiers.destage(entry.number(), last, MoveControl.UNLIMITED);
      }
    } catch (IOException e) {
      // It is not where it was.
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** One of the store's directories, or one of two log directories, fails while a broker starts. */
  @ParameterizedTest
  @ValueSource(strings = {"a", "b", "logs", "logs2"})
  void aStartGoesOn(String failing) throws Exception {
    for (String reason : List.of("Input/output error", "Read-only file system")) {
      for (boolean forGood : List.of(false, true)) {
        assertThat(count(call -> startMeets(failing, reason, forGood, call))).isPositive();
      }
    }
  }

  private boolean startMeets(String failing, String reason, boolean forGood, int call)
      throws Exception {
    FaultyFileSystem files = new FaultyFileSystem(true);
    Path disk = Files.createDirectory(top.resolve("run" + ++runs));
    for (String name : List.of("a", "b", "logs", "logs2")) {
      Path unused = Files.createDirectory(disk.resolve(name));
    }
    StoreOptions options =
        Stores.options(
            1,
            List.of(files.wrap(disk.resolve("logs")), files.wrap(disk.resolve("logs2"))),
            StoreStage.Hook.NONE,
            Stores.level("ssd", OptionalLong.of(1 << 30), files.wrap(disk.resolve("a"))),
            Stores.level("hdd", OptionalLong.of(1 << 30), files.wrap(disk.resolve("b"))));
    SegmentInfo segment = Stores.info("t", 0, 100, 1, BYTES);
    var unused =
        Stores.copy(Stores.open(options, Optional.empty()), disk.resolve("local"), segment);
    AtomicInteger calls = new AtomicInteger();
    boolean reads = reason.startsWith("Input");
    Runnable over =
        files.fail(
            reason,
            (operation, path) -> {
              if (!path.startsWith(disk.resolve(failing))
                  || (operation != Operation.WRITE && !reads)) {
                return false;
              }
              int number = calls.getAndIncrement();
              return forGood ? number >= call : number == call;
            });
    SegmentStore store;
    try {
      store = new SegmentStore(options, Optional.empty());
    } catch (Exception e) {
      throw new AssertionError(failing + " " + reason + " " + forGood + " at call " + call, e);
    }
    over.run();
    assertThat(store.firstUses).isEmpty();
    for (StoreDirectory directory : store.directories()) {
      directory.checkAvailable();
    }
    assertThat(store.lookup.locate(segment.key())).isPresent();
    assertThat(new SegmentStore(options, Optional.empty()).warnings).isEmpty();
    Disk.removeTree(disk);
    return calls.get() > call;
  }
}
