package io.strata.kafka.migration.remote.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.crash.Loss;
import io.strata.kafka.crash.Point;
import io.strata.kafka.crash.SimFileSystem;
import io.strata.kafka.crash.Sites;
import io.strata.kafka.crash.StackSites;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.migration.remote.store.disk.CopyMarks;
import io.strata.kafka.migration.remote.store.disk.Disk;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.StoreStage;
import io.strata.kafka.migration.remote.store.keep.CopyRepair;
import io.strata.kafka.migration.remote.store.keep.StoreTiers;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.StoreIdentity;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * The power goes at any change of the store's file systems, which keep what was forced, and of the
 * rest anything: what Kafka was told is there is there, whole, and what it was told is deleted does
 * not come back. At some of the changes it is the process that is killed; the next one goes on with
 * what is there, forced or not, and then the power goes.
 *
 * <p>More seeds with {@code -Dstrata.store.seeds=N}, one with {@code -Dstrata.store.seed=n}.
 */
class StorePowerCutTest {

  private static final String MUTATIONS = "strata.store.mutations";
  private static final int STEPS = 30;
  private static final int SEEDS = Integer.getInteger("strata.store.seeds", 5);
  private static final int MOST_BYTES = 20_000;

  /** One change in so many is followed by another process. */
  private static final int KILL_ONE_IN = 5;

  private static final Set<String> HELPERS =
      Set.of(
          "Disk",
          "JsonFile",
          "ObjectFiles",
          "ColdCopies.mark",
          "StoreDirectory.forceParents",
          "StoreDirectory.force",
          "StoreDirectory.publish",
          "StoreDirectory.trash",
          "StoreDirectory.forceNoEntry");

  private static final Set<String> SIMULATION =
      Set.of("crash.", "migration.remote.store.StorePowerCutTest");

  private static final Set<String> OUTSIDE = Set.of("migration.remote.store.StoreWorkload");

  /** Ends a process whose power has gone. */
  private static final class PowerCutError extends Error {
    private static final long serialVersionUID = 1;

    PowerCutError() {
      super("the power has gone", null, false, false);
    }
  }

  @TempDir private Path local = Path.of("");

  private final class Run {
    private final long seed;
    private final SimFileSystem disk = new SimFileSystem();
    private final StoreWorkload workload;
    private final Random random;
    private final Sites sites;
    private long changes;
    private long cuts;

    Run(long seed, Sites sites) throws IOException {
      this.sites = sites;
      this.seed = seed;
      this.random = new Random(seed);
      this.workload =
          new StoreWorkload(seed, disk.getPath("/"), local, MOST_BYTES, StoreStage.Hook.NONE);
    }

    long run() throws Exception {
      disk.points(this::reached);
      for (int step = 0; step < STEPS; step++) {
        workload.step();
      }
      return cuts;
    }

    private boolean reached(Point point) {
      changes++;
      Loss loss = new Loss(Loss.mix(seed, changes));
      String at =
          "seed " + seed + ", change " + changes + ", before " + point + " of " + disk.touched();
      try {
        cut(at, workload, disk, loss);
        if (random.nextInt(KILL_ONE_IN) == 0) {
          goOn(at, loss);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(at, e);
      } catch (Exception e) {
        throw new AssertionError(at, e);
      }
      return isEffective(point);
    }

    private boolean isEffective(Point point) {
      return !point.makesDurable() || !sites.disabled(point);
    }

    private void cut(String at, StoreWorkload then, SimFileSystem on, Loss loss)
        throws IOException, InterruptedException {
      cuts++;
      then.look(at, on.powerCut(loss).getPath("/"));
    }

    /** Another process; of its changes, one is its last. */
    private void goOn(String at, Loss loss) throws Exception {
      SimFileSystem left = disk.kill();
      long[] leftToDo = {random.nextInt(120)};
      StoreWorkload[] next = {workload};
      String then = at + "; then a kill, and " + leftToDo[0] + " changes";
      left.points(
          point -> {
            leftToDo[0]--;
            if (leftToDo[0] < 0) {
              throw new PowerCutError();
            }
            return isEffective(point);
          });
      try {
        next[0] = workload.goOn(Loss.mix(seed, -changes), left.getPath("/"));
        next[0].recover();
        for (int step = 0; step < STEPS; step++) {
          next[0].step();
        }
      } catch (PowerCutError e) {
        assertThat(leftToDo[0]).isNegative();
      }
      left.points(point -> true);
      cut(then, next[0], left, loss);
    }
  }

  /**
   * The store's own states: its directories, what is known to be damaged. One broker uses it,
   * another adds a directory; at each change that one may also be killed, and started again, before
   * the power goes.
   */
  private final class States {
    /** Each change is followed by so many power cuts: there are few changes. */
    private static final int LOSSES = 6;

    private final Sites sites;
    private final long seed;
    private final SimFileSystem disk = new SimFileSystem();
    private final SegmentInfo segment = Stores.info("t", 0, 0, 1, 2000);
    private long changes;
    private long cuts;

    /** The directory that was added; empty while it is being added. */
    private Optional<StoreIdentity> added = Optional.empty();

    private boolean damaged;
    private boolean marked;

    States(long seed, Sites sites) {
      this.seed = seed;
      this.sites = sites;
    }

    private SegmentStore open(SimFileSystem on, int broker) {
      return Stores.open(
          broker, Stores.level("ssd", on.getPath("/a")), Stores.level("hdd", on.getPath("/b")));
    }

    long run() throws Exception {
      for (String name : List.of("/a", "/b")) {
        Path unused = Files.createDirectory(disk.getPath(name));
      }
      Disk.forceDirectory(disk.getPath("/"));
      Path a = disk.getPath("/a");
      Path b = disk.getPath("/b");
      SegmentStore one = Stores.open(1, Stores.level("ssd", a));
      assertThat(one.directories()).hasSize(1);
      disk.points(this::reached);
      SegmentStore store = open(disk, 2);
      added = Optional.of(store.directories().get(1).identity());

      StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
      SegmentStore.Copied unused = Stores.copy(store, local, segment);
      assertThat(
              tiers
                  .destage(tiers.state().segments().get(0).id(), 1, MoveControl.UNLIMITED)
                  .outcome())
          .isEqualTo(MoveResult.Outcome.DONE);
      Path log =
          StoreNames.segment(b, segment.key()).resolve(ObjectType.LOG.fileName(segment.key()));
      disk.points(point -> true);
      try (FileChannel channel = FileChannel.open(log, StandardOpenOption.WRITE)) {
        Disk.writeFully(channel, ByteBuffer.allocate(2000));
        channel.force(true);
      }
      disk.points(this::reached);
      damaged = true;
      store.lookup.damaged(store.directories().get(1), segment.key(), "by the test");
      marked = true;
      CopyRepair repair = new CopyRepair(store);
      List<Path> unusedFiles = repair.repair(repair.known().get(0), bytes -> {});
      assertThat(CopyMarks.isDamaged(Disk.parent(log))).isFalse();
      look("seed " + seed, disk.powerCut(new Loss(Loss.mix(seed, 0))), added);
      return cuts;
    }

    private boolean isEffective(Point point) {
      return !point.makesDurable() || !sites.disabled(point);
    }

    private boolean reached(Point point) {
      changes++;
      String at =
          "seed " + seed + ", change " + changes + ", before " + point + " of " + disk.touched();
      try {
        Loss loss = new Loss(Loss.mix(seed, changes));
        look(at, disk.powerCut(loss), added);
        for (int more = 1; more < LOSSES; more++) {
          look(at, disk.powerCut(new Loss(Loss.mix(loss.seed(), more))), added);
        }
        SimFileSystem left = disk.kill();
        left.points(this::isEffective);
        Optional<StoreIdentity> then = Optional.of(open(left, 2).directories().get(1).identity());
        left.points(any -> true);
        look(at + "; then a kill, and once more", left.powerCut(loss), then);
      } catch (IOException e) {
        throw new UncheckedIOException(at, e);
      }
      return isEffective(point);
    }

    /** What a power cut has left. */
    private void look(String at, SimFileSystem image, Optional<StoreIdentity> member)
        throws IOException {
      cuts++;
      Path b = image.getPath("/b");
      if (member.isPresent()) {
        assertThat(StoreIdentity.read(b)).as(at).isEqualTo(member.get());
      }
      if (damaged) {
        Path there = StoreNames.segment(b, segment.key());
        byte[] bytes = Files.readAllBytes(there.resolve(ObjectType.LOG.fileName(segment.key())));
        boolean right = Arrays.equals(bytes, Stores.bytes(0, 2000));
        assertThat(right || !marked || CopyMarks.isDamaged(there)).as(at).isTrue();
      }
      assertThat(open(image, 1).directories()).as(at).hasSize(2);
    }
  }

  @Test
  void whatAStoreKnowsOfItselfIsDurable() throws Exception {
    long cuts = 0;
    for (long seed = 1; seed <= 2L * SEEDS; seed++) {
      cuts += new States(seed, Sites.ALL).run();
    }
    System.out.println("power cuts of the store's states: " + cuts);
    assertThat(cuts).isGreaterThan(1000);
  }

  @Test
  void whatKafkaWasToldIsDurable() throws Exception {
    long only = Long.getLong("strata.store.seed", -1);
    long cuts = 0;
    for (long seed = only < 0 ? 1 : only; seed <= (only < 0 ? SEEDS : only); seed++) {
      cuts += new Run(seed, Sites.ALL).run();
    }
    System.out.println("the store's power cuts: " + cuts);
    assertThat(cuts).isGreaterThan(1000);
  }

  /** Two brokers delete a segment; the one that finds it gone is the first that returns. */
  @Test
  void whatAnotherBrokerIsDeletingIsDeletedDurably() throws Exception {
    for (long seed = 1; seed <= 20; seed++) {
      SimFileSystem disk = new SimFileSystem();
      Path top = disk.getPath("/ssd");
      Path unused = Files.createDirectory(top);
      Disk.forceDirectory(Disk.parent(top));
      SegmentStore one = Stores.open(1, Stores.level("ssd", top));
      SegmentStore two = Stores.open(2, Stores.level("ssd", top));
      SegmentInfo segment = Stores.info("t", 0, 0, 1, 2000);
      SegmentStore.Copied unusedToo = Stores.copy(one, local, segment);
      Loss loss = new Loss(Loss.mix(seed, 1));
      AtomicInteger renamed = new AtomicInteger();
      disk.points(
          point -> {
            if (point == Point.RENAME) {
              int unusedCount = renamed.incrementAndGet();
            } else if (renamed.get() == 1) {
              int unusedCount = renamed.incrementAndGet();
              try {
                assertThat(two.delete(segment)).isEmpty();
                SegmentStore after =
                    Stores.open(1, Stores.level("ssd", disk.powerCut(loss).getPath("/ssd")));
                assertThat(after.lookup.locate(segment.key())).isEmpty();
              } catch (IOException | InterruptedException e) {
                throw new AssertionError(e);
              }
            }
            return true;
          });
      assertThat(one.delete(segment)).hasSize(1);
      assertThat(renamed.get()).isGreaterThan(1);
    }
  }

  /** A simulation of one seed. */
  @FunctionalInterface
  private interface Simulation {
    long run(long seed, Sites sites) throws Exception;
  }

  /**
   * Each force is taken away in turn; prints which seed finds out, of the first {@code
   * -Dstrata.store.mutations=N}.
   */
  @Test
  @EnabledIfSystemProperty(named = MUTATIONS, matches = "[0-9]+")
  void takesAwayEachForce() throws Exception {
    takeAwayEach((seed, sites) -> new Run(seed, sites).run());
  }

  /** As {@link #takesAwayEachForce}, of the store's own states. */
  @Test
  @EnabledIfSystemProperty(named = MUTATIONS, matches = "[0-9]+")
  void takesAwayEachForceOfTheStoresStates() throws Exception {
    takeAwayEach((seed, sites) -> new States(seed, sites).run());
  }

  private static void takeAwayEach(Simulation simulation) throws Exception {
    StackSites sites = new StackSites(HELPERS, SIMULATION, OUTSIDE);
    for (long seed = 1; seed <= SEEDS; seed++) {
      sites.seed(seed);
      long unused = simulation.run(seed, sites);
    }
    Map<String, String> places = sites.labels();
    for (Map.Entry<String, String> place : places.entrySet()) {
      sites.disable(place.getValue());
      System.out.println(
          place.getKey()
              + " | "
              + noticed(simulation, sites).map(String::valueOf).orElse("not noticed"));
      sites.enableAll();
    }
    assertThat(places).isNotEmpty();
  }

  private static Optional<Long> noticed(Simulation simulation, StackSites sites) throws Exception {
    for (long seed = 1; seed <= Long.getLong(MUTATIONS, 0); seed++) {
      try {
        long unused = simulation.run(seed, sites);
      } catch (AssertionError | UncheckedIOException e) {
        return Optional.of(seed);
      }
    }
    return Optional.empty();
  }
}
