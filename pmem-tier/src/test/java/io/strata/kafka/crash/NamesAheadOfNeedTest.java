package io.strata.kafka.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.pool.words.SlotState;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/**
 * What Kafka does under a log's lock forces no directory: the thread that has renamed or made
 * something has had that done in the background.
 */
class NamesAheadOfNeedTest {

  private final List<Point> forced = new ArrayList<>();

  @Test
  void anAppendAfterARenameBesideItForcesNothing() throws IOException {
    try (Opened opened = new Opened()) {
      SimWorld world = opened.world;
      Expected old = opened.segment();
      Expected active = opened.segment();
      world.rename(old, old.directory, old.file + ".deleted");
      world.background().runAll();
      forced.clear();
      world.append(active, SimBatches.of(1_000, 1));
      assertThat(forced).isEmpty();
    }
  }

  @Test
  void aNewSegmentAfterARenameBesideItForcesNothing() throws IOException {
    try (Opened opened = new Opened()) {
      SimWorld world = opened.world;
      Expected old = opened.segment();
      world.rename(old, old.directory, old.file + ".deleted");
      world.background().runAll();
      forced.clear();
      Expected created = world.create("orders-0");
      world.append(created, SimBatches.of(1_000, 1));
      assertThat(forced).isEmpty();
    }
  }

  @Test
  void anAppendAfterAnotherPartitionWasDeletedForcesNothing() throws IOException {
    try (Opened opened = new Opened()) {
      SimWorld world = opened.world;
      Expected active = opened.segment();
      Files.createDirectory(world.disk.getPath("/logs/gone-0"));
      Expected unused = world.create("gone-0");
      world.renameDirectory("gone-0", "gone-0.abc-delete");
      world.background().runAll();
      forced.clear();
      world.append(active, SimBatches.of(1_000, 1));
      assertThat(forced).isEmpty();
    }
  }

  /** What retention renames is older: should it come back, it is the log's own. */
  @Test
  void anAppendAndARollThatAreEarlierThanTheBackgroundForceNothing() throws IOException {
    try (Opened opened = new Opened()) {
      SimWorld world = opened.world;
      Expected old = opened.segment();
      Expected active = opened.segment();
      world.rename(old, old.directory, old.file + ".deleted");
      forced.clear();
      world.append(active, SimBatches.of(1_000, 1));
      Expected rolled = world.create("orders-0");
      world.append(rolled, SimBatches.of(1_000, 1));
      assertThat(forced).isEmpty();
    }
  }

  /** A truncation renames the newest ones: only if nothing has been done in the background yet. */
  @Test
  void anAppendAfterATruncationThatIsEarlierThanTheBackgroundForcesItself() throws IOException {
    try (Opened opened = new Opened()) {
      SimWorld world = opened.world;
      Expected active = opened.segment();
      Expected truncated = opened.segment();
      world.rename(truncated, truncated.directory, truncated.file + ".deleted");
      forced.clear();
      world.append(active, SimBatches.of(1_000, 1));
      assertThat(forced).containsExactly(Point.DIRECTORY_FORCE);
      world.background().runAll();
      assertThat(forced).hasSize(1);
    }
  }

  /** As a follower that begins again at another offset. */
  @Test
  void aNewSegmentAfterAllOthersWereRemovedForcesTheirRenames() throws IOException {
    try (Opened opened = new Opened()) {
      SimWorld world = opened.world;
      Expected old = opened.segment();
      Expected active = opened.segment();
      world.rename(old, old.directory, old.file + ".deleted");
      world.rename(active, active.directory, active.file + ".deleted");
      forced.clear();
      Expected unused = world.create("orders-0");
      assertThat(forced).containsExactly(Point.DIRECTORY_FORCE);
    }
  }

  @Test
  void aNewPartitionForcesNothing() throws IOException {
    try (Opened opened = new Opened()) {
      SimWorld world = opened.world;
      world.background().runAll();
      forced.clear();
      Files.createDirectory(world.disk.getPath("/logs/young-0"));
      Expected created = world.create("young-0");
      world.append(created, SimBatches.of(1_000, 1));
      assertThat(forced).isEmpty();
    }
  }

  /** The process before may have been killed after a rename: the background sees to that. */
  @Test
  void theFirstAppendAfterAStartForcesNothing() throws IOException {
    try (Opened opened = new Opened()) {
      SimWorld world = opened.world;
      Expected active = opened.segment();
      world.close();
      world.open();
      world.background().runAll();
      forced.clear();
      world.append(active, SimBatches.of(1_000, 1));
      assertThat(forced).isEmpty();
    }
  }

  @Test
  void theFirstAppendAfterAStartThatIsEarlierThanTheBackgroundForcesItself() throws IOException {
    try (Opened opened = new Opened()) {
      SimWorld world = opened.world;
      Expected active = opened.segment();
      world.close();
      world.open();
      forced.clear();
      world.append(active, SimBatches.of(1_000, 1));
      assertThat(forced).containsExactly(Point.DIRECTORY_FORCE, Point.DIRECTORY_FORCE);
    }
  }

  /** A partition of whose segments none is known is renamed by the JDK; its name is used again. */
  @Test
  void aRenameCountsWhenItIsDone() throws IOException {
    try (Opened opened = new Opened()) {
      SimWorld world = opened.world;
      Files.createDirectory(world.disk.getPath("/logs/cold-0"));
      world.disk.points(
          point -> {
            if (point == Point.RENAME) {
              world.background().runAll();
            }
            return opened.note(point);
          });
      world
          .openTier()
          .move(world.disk.getPath("/logs/cold-0"), world.disk.getPath("/logs/cold-0.abc-delete"));
      forced.clear();
      Files.createDirectory(world.disk.getPath("/logs/cold-0"));
      Expected unused = world.create("cold-0");
      assertThat(forced).containsExactly(Point.DIRECTORY_FORCE);
    }
  }

  /** Its first append is forced, being in a log file; the directories have been by then. */
  @Test
  void anAppendToASegmentThatFoundNoSpaceForcesNoDirectory() throws IOException {
    try (Opened opened = new Opened(Setup.ALL.get(0).with(Setup.PoolSize.SMALL))) {
      SimWorld world = opened.world;
      Expected created = opened.segment();
      while (world.openTier().isHot(world.path(created))) {
        created = world.create("orders-0");
      }
      world.background().runAll();
      forced.clear();
      world.append(created, SimBatches.of(1_000, 1));
      assertThat(forced).isNotEmpty().containsOnly(Point.FILE_FORCE);
    }
  }

  /** The kernel reports a failed write once: who comes later must not take that for success. */
  @Test
  void aForceThatFailedInTheBackgroundFailsTheNextAppend() throws IOException {
    try (Opened opened = new Opened()) {
      SimWorld world = opened.world;
      Expected old = opened.segment();
      Expected active = opened.segment();
      failNextForceOfADirectory(world);
      world.rename(old, old.directory, old.file + ".deleted");
      world.background().runAll();
      assertThat(world.failures).hasSize(1);
      assertThatThrownBy(() -> world.append(active, SimBatches.of(1_000, 1)))
          .isInstanceOf(IOException.class)
          .hasMessageContainingAll("orders-0", "until the restart", "a test's");
    }
  }

  /** A directory that is renamed keeps what is not known of it. */
  @Test
  void aForceThatFailedFailsTheNextAppendUnderAnotherNameOfTheDirectory() throws IOException {
    try (Opened opened = new Opened()) {
      SimWorld world = opened.world;
      Expected old = opened.segment();
      Expected active = opened.segment();
      failNextForceOfADirectory(world);
      world.rename(old, old.directory, old.file + ".deleted");
      world.background().runAll();
      world.renameDirectory("orders-0", "orders-1");
      world.background().runAll();
      assertThatThrownBy(() -> world.append(active, SimBatches.of(1_000, 1)))
          .isInstanceOf(IOException.class)
          .hasMessageContainingAll("orders-1", "until the restart", "a test's");
    }
  }

  /**
   * Whether the file comes back with the next power failure is not known: recovery looks. The
   * segment's bytes do not matter any more, and their space waits for no force.
   */
  @Test
  void anUnlinkingThatCouldNotBeForcedKeepsTheSlotAndNotItsBytes() throws IOException {
    try (Opened opened = new Opened()) {
      SimWorld world = opened.world;
      Expected deleted = opened.segment();
      world.closeChannel(deleted);
      assertThat(world.openTier().pools().get(0).usage().usedBytes()).isPositive();
      failNextForceOfADirectory(world);
      world.delete(deleted);
      assertThat(world.openTier().pools().get(0).usage().usedBytes()).isZero();
      world.background().runAll();
      assertThat(world.openTier().pools().get(0).slots())
          .extracting(Slot::state)
          .containsExactly(SlotState.DELETING);
      world.close();
      world.open();
      assertThat(world.openTier().pools().get(0).slots()).isEmpty();
    }
  }

  /** Another partition's log files are used while those of a renamed one are forced. */
  @Test
  void aRenameOfADirectoryForcesWithoutItsLock() throws Exception {
    try (Opened opened = new Opened()) {
      SimWorld world = opened.world;
      Expected beside = opened.segment();
      assertThat(beside.offset).isPositive();
      Files.createDirectory(world.disk.getPath("/logs/young-0"));
      Expected young = world.create("young-0");
      world.append(young, SimBatches.of(1_000, 1));
      long id =
          world.openTier().segments().state().segments().stream()
              .filter(view -> view.name().id().topic().equals("orders"))
              .findAny()
              .orElseThrow()
              .id();
      List<Thread> waiting = new ArrayList<>();
      List<Thread> users = new ArrayList<>();
      Queue<Throwable> wrong = new ConcurrentLinkedQueue<>();
      world.disk.points(
          point -> {
            if (point == Point.FILE_FORCE || point == Point.DIRECTORY_FORCE) {
              Thread user = new Thread(() -> use(world, id));
              user.setUncaughtExceptionHandler((thread, e) -> wrong.add(e));
              users.add(user);
              user.start();
              if (!ends(user)) {
                waiting.add(user);
              }
            }
            return true;
          });
      world
          .openTier()
          .move(world.disk.getPath("/logs/young-0"), world.disk.getPath("/logs/young-1"));
      world.disk.points(Points.NONE);
      for (Thread user : users) {
        user.join();
      }
      assertThat(wrong).isEmpty();
      assertThat(users).isNotEmpty();
      assertThat(waiting).isEmpty();
    }
  }

  /** Holds a segment's log file; it is not moved, having no need. */
  private static void use(SimWorld world, long id) {
    try {
      assertThat(world.openTier().segments().goOn(id, 0, MoveControl.UNLIMITED).outcome())
          .isEqualTo(MoveResult.Outcome.CANCELLED);
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static boolean ends(Thread thread) {
    try {
      thread.join(Duration.ofSeconds(5).toMillis());
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return !thread.isAlive();
  }

  /** A second force may succeed though the entry never reached the disk. */
  @Test
  void aNameWhoseDirectoryCouldNotBeForcedIsNeverTakenForDurable() throws IOException {
    assertNeverTakenForDurable(Point.DIRECTORY_FORCE);
  }

  /** The log file has its tag by that force. */
  @Test
  void aNameWhoseFileCouldNotBeForcedIsNeverTakenForDurable() throws IOException {
    assertNeverTakenForDurable(Point.FILE_FORCE);
  }

  private void assertNeverTakenForDurable(Point fails) throws IOException {
    try (Opened opened = new Opened()) {
      SimWorld world = opened.world;
      Expected created = world.create("orders-0");
      world.append(created, SimBatches.of(1_000, 1));
      failNext(fails, world);
      world.background().runAll();
      assertThat(world.failures).isNotEmpty();
      assertThat(nameIsDurable(world)).containsExactly(false);
      world.failures.clear();
      world.background().runAll();
      assertThat(world.failures).as("it is reported once").isEmpty();
      // Its bytes would be behind a name that a power failure takes.
      long id = world.openTier().segments().state().segments().get(0).id();
      assertThatThrownBy(() -> world.openTier().segments().destage(id, 1, MoveControl.UNLIMITED))
          .isInstanceOf(IOException.class)
          .hasMessageContainingAll("orders-0", "until the restart");
      Files.createDirectory(world.disk.getPath("/logs/young-0"));
      Expected beside = world.create("young-0");
      world.append(beside, SimBatches.of(1_000, 1));
      world.background().runAll();
      assertThat(nameIsDurable(world)).containsExactly(false, true);
      world.close();
      world.open();
      assertThat(nameIsDurable(world)).containsExactly(true, true);
    }
  }

  /** Else a power failure would leave a gap between what the pool has and what is before it. */
  @Test
  void aLogFileThatCannotBeForcedKeepsTheNextSegmentOutOfThePool() throws IOException {
    try (Opened opened = new Opened()) {
      SimWorld world = opened.world;
      world.writePastTheTier("orders-0", SimBatches.of(1_000, 1));
      failNext(Point.FILE_FORCE, world);
      Expected next = world.create("orders-0");
      world.append(next, SimBatches.of(1_000, next.offset));
      assertThat(world.failures).singleElement().asString().contains("orders-0", "a test's");
      assertThat(world.openTier().pools().get(0).slots()).isEmpty();
      world.failures.clear();
    }
  }

  /** Kafka waits for it: all segments of a deleted replica share a force of their pool. */
  @Test
  void aDeletedReplicaIsForcedOnce() throws IOException {
    SimWorld world = SimWorld.create(Setup.ALL.get(2)); // a pool that needs a force
    Files.createDirectory(world.disk.getPath("/logs/orders-0"));
    world.open();
    for (int i = 0; i < 5; i++) {
      world.append(world.create("orders-0"), SimBatches.of(1_000, i));
    }
    world.background().runAll();
    List<Point> seen = new ArrayList<>();
    world.points(seen::add);
    world
        .openTier()
        .move(
            world.disk.getPath("/logs/orders-0"),
            world.disk.getPath("/logs/orders-0.0123456789abcdef0123456789abcdef-delete"));
    assertThat(seen.stream().filter(point -> point == Point.FORCE)).hasSize(1);
    assertThat(world.openTier().pools().get(0).slots())
        .hasSize(5)
        .allMatch(slot -> slot.has(SlotFlag.ORPHANED));
  }

  private static List<Boolean> nameIsDurable(SimWorld world) {
    return world.openTier().pools().get(0).slots().stream()
        .map(slot -> slot.has(SlotFlag.NAME_DURABLE))
        .toList();
  }

  private static void failNextForceOfADirectory(SimWorld world) {
    failNext(Point.DIRECTORY_FORCE, world);
  }

  private static void failNext(Point what, SimWorld world) {
    AtomicBoolean fails = new AtomicBoolean(true);
    world.disk.points(
        point -> {
          if (point == what && fails.getAndSet(false)) {
            throw NamesAheadOfNeedTest.<RuntimeException>unchecked(new IOException("a test's"));
          }
          return true;
        });
  }

  /** The simulated file system's listener declares no exception; a disk has them. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Exception> E unchecked(Exception e) throws E {
    throw (E) e;
  }

  @Test
  void newLogFilesOfOneDirectoryAreMadeDurableTogether() throws IOException {
    try (Opened opened = new Opened()) {
      SimWorld world = opened.world;
      Expected first = opened.segment();
      world.delete(first);
      world.background().runAll();
      forced.clear();
      for (int i = 0; i < 5; i++) {
        Expected unused = world.create("orders-0");
      }
      world.background().runAll();
      assertThat(forced).filteredOn(Point.FILE_FORCE::equals).hasSize(5);
      // The partition's: its own name is durable since the first.
      assertThat(forced).filteredOn(Point.DIRECTORY_FORCE::equals).hasSize(1);
    }
  }

  /** A world with one partition, whose forces are noted. */
  private final class Opened implements AutoCloseable {

    private final SimWorld world;

    /** One tier on DAX. */
    Opened() throws IOException {
      this(Setup.ALL.get(0));
    }

    Opened(Setup setup) throws IOException {
      world = SimWorld.create(setup);
      Files.createDirectory(world.disk.getPath("/logs/orders-0"));
      SimWorld.force(world.disk.getPath("/logs"));
      world.open();
      world.disk.points(this::note);
    }

    boolean note(Point point) {
      if (point == Point.FILE_FORCE || point == Point.DIRECTORY_FORCE) {
        forced.add(point);
      }
      return true;
    }

    /** A segment with some bytes, and nothing left to be done for it. */
    Expected segment() throws IOException {
      Expected segment = world.create("orders-0");
      world.append(segment, SimBatches.of(1_000, segment.offset));
      world.background().runAll();
      return segment;
    }

    @Override
    public void close() throws IOException {
      world.close();
    }
  }
}
