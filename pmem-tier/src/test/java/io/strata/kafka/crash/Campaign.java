package io.strata.kafka.crash;

import io.strata.kafka.crash.SimWorld.End;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Runs workloads, takes the image of a crash at each point without stopping them, and holds what
 * recovery makes of it against what must be. Recovery is cut too, at random points.
 *
 * <p>Thread safety: none.
 */
final class Campaign {

  /** Shows the points before the one cut that is looked at, and those of its recovery. */
  private static final boolean TRACE = Boolean.getBoolean("strata.crash.trace");

  private static final int SHOWN_BEFORE = 100;
  private static final int FRAMES_SHOWN = 12;
  private static final int STEPS = 60;
  private static final int DEEPEST = 3;

  /** About how many points come before a recovery and what follows it have ended. */
  private static final int POINTS_OF_RECOVERY = 60;

  /** How many points after a place without effect are cut more often than others. */
  private static final int NEAR = 50;

  private final Map<Point, Long> byPoint = new EnumMap<>(Point.class);
  private final Map<End, Long> byEnd = new EnumMap<>(End.class);
  private final long[] byDepth = new long[DEEPEST + 1];
  private final Sites sites;
  private long cuts;
  private long onlyCut;
  private long mostCuts = Long.MAX_VALUE;
  private boolean near;
  private boolean failing;
  private long failedCalls;

  /** What a cut has found: a background thread may have had it first, and kept it. */
  private Optional<Failure> found = Optional.empty();

  /** What came out of a seed that was not as it must be. */
  static final class Failure extends AssertionError {
    private static final long serialVersionUID = 1;

    Failure(String message, Throwable cause) {
      super(message, cause);
    }
  }

  Campaign(Sites sites) {
    this.sites = sites;
  }

  /** Looks at one cut of each workload alone; 0 for all of them. */
  Campaign only(long cut) {
    onlyCut = cut;
    return this;
  }

  Campaign atMost(long most) {
    mostCuts = most;
    return this;
  }

  /** Cuts soon after what has no effect, and seldom elsewhere. */
  Campaign near() {
    near = true;
    return this;
  }

  /** Has a call of one seed in four fail, somewhere among the cuts. */
  Campaign failing() {
    failing = true;
    return this;
  }

  long cuts() {
    return cuts;
  }

  /** What has been cut how often. */
  String report() {
    return cuts
        + " cut points: "
        + byEnd
        + ", at "
        + byPoint
        + "; of workloads "
        + byDepth[0]
        + ", of recoveries and what followed "
        + Arrays.toString(Arrays.copyOfRange(byDepth, 1, byDepth.length))
        + "; "
        + failedCalls
        + " of workloads in which a call failed";
  }

  /** Runs one workload. */
  void run(long seed) throws IOException {
    run(seed, Setup.of(seed));
  }

  /** Runs one workload on pools of choice. */
  void run(long seed, Setup setup) throws IOException {
    long lot = Loss.mix(seed, 53);
    if (failing && Long.remainderUnsigned(lot, 4) == 0) {
      runFailing(seed, setup, FailingCall.any(Loss.mix(lot, seed)));
      return;
    }
    SimWorld world = SimWorld.create(setup);
    Cutter cutter = new Cutter(seed, world, List.of(), 0, 0);
    world.points(cutter);
    try {
      world.open();
      Workload workload = new Workload(world, seed);
      for (int i = 0; i < STEPS && cuts < mostCuts; i++) {
        workload.step();
      }
      if (cuts < mostCuts) {
        world.verify();
        world.verifyAccounts();
        world.drain();
      }
    } catch (Failure e) {
      throw e;
    } catch (IOException | RuntimeException | AssertionError e) {
      throw new Failure(setup + ", seed " + seed + ", without a crash: " + e + repeat(seed, -1), e);
    }
  }

  private void runFailing(long seed, Setup setup, FailingCall.Plan plan) throws IOException {
    FailingRun run = new FailingRun(seed, setup, Optional.of(plan));
    run.world().points(new Cutter(seed, run.world(), List.of(), 0, 0));
    long before = cuts;
    try {
      run.live();
    } catch (Failure e) {
      throw e;
    } catch (IOException | RuntimeException | AssertionError e) {
      throw new Failure(setup + ", seed " + seed + ", " + plan + ": " + e + repeat(seed, -1), e);
    }
    if (found.isPresent()) {
      throw found.get();
    }
    failedCalls += run.where().isEmpty() ? 0 : cuts - before;
  }

  private static String repeat(long seed, long cut) {
    return "\nto repeat: mvn test -pl pmem-tier -am -Dtest=CrashSimulationTest"
        + " -Dsurefire.failIfNoSpecifiedTests=false -Dstrata.crash.seed="
        + seed
        + (cut >= 0 ? " -Dstrata.crash.cut=" + cut : "");
  }

  /** A crash: which one, and how. */
  private record Cut(long number, Point point, End end) {
    @Override
    public String toString() {
      return end + " at " + number + " (before " + point + ")";
    }
  }

  /** Takes images of one world. */
  private final class Cutter implements Points {
    private final long seed;
    private final SimWorld world;
    private final List<Cut> before;
    private final int depth;

    /** The one point to cut at; 0 for all. */
    private final long target;

    private long reached;
    private long nearUntil;
    private boolean failed;

    Cutter(long seed, SimWorld world, List<Cut> before, int depth, long target) {
      this.seed = seed;
      this.world = world;
      this.before = before;
      this.depth = depth;
      this.target = target;
    }

    @Override
    public boolean before(Point point) {
      long met = sites.met();
      boolean effective = !point.makesDurable() || !sites.disabled(point);
      reached++;
      if (TRACE && onlyCut > 0 && (depth > 0 || reached > onlyCut - SHOWN_BEFORE)) {
        trace(point);
      }
      if (!failed && cuts < mostCuts && isWanted(sites.met() != met)) {
        long chance = Loss.mix(Loss.mix(seed, reached), before.size());
        boolean cutPower = depth == 0 || chance % 4 != 0;
        if (cutPower) {
          crash(point, End.POWER_CUT, chance);
        }
        if (depth == 0 ? chance % 4 == 0 : !cutPower) {
          crash(point, End.KILL, chance + 1);
        }
      }
      return effective;
    }

    private boolean isWanted(boolean place) {
      if (near) {
        long lot = Loss.mix(Loss.mix(seed, reached), 99 + depth);
        boolean soon = reached <= nearUntil;
        if (place) {
          nearUntil = reached + NEAR;
        }
        int oneIn = depth == 0 ? (soon ? 2 : 12) : (soon ? 12 : POINTS_OF_RECOVERY);
        return depth <= DEEPEST && Long.remainderUnsigned(lot, oneIn) == 0;
      }
      long wanted = target > 0 ? target : onlyCut;
      return wanted == 0 || wanted == reached;
    }

    private void trace(Point point) {
      String stack =
          StackWalker.getInstance()
              .walk(
                  frames ->
                      frames
                          .map(frame -> frame.toStackTraceElement().toString())
                          .filter(
                              frame ->
                                  frame.startsWith("io.strata") || frame.contains("//io.strata"))
                          .skip(3)
                          .limit(FRAMES_SHOWN)
                          .map(frame -> frame.substring(frame.indexOf('(')))
                          .collect(Collectors.joining(" ")));
      System.out.println(
          "  ".repeat(depth) + reached + " " + point + " " + world.disk.touched() + " " + stack);
    }

    private void crash(Point point, End end, long chance) {
      cuts++;
      byPoint.merge(point, 1L, Long::sum);
      byEnd.merge(end, 1L, Long::sum);
      byDepth[depth]++;
      List<Cut> path = new ArrayList<>(before);
      path.add(new Cut(reached, point, end));
      // Files have fates of their own at some cuts: a crash clone, from which recovery goes on.
      boolean byFile = failing && Loss.mix(chance, 5) % 4 == 0;
      SimWorld left = world.crash(end, new Loss(chance, byFile));
      try {
        recover(left, path, end, chance);
      } catch (Failure e) {
        failed = true;
        found = Optional.of(e);
        throw e;
      } catch (IOException | RuntimeException | AssertionError e) {
        failed = true;
        Failure failure =
            new Failure(
                world.setup
                    + ", seed "
                    + seed
                    + ", "
                    + path
                    + ": "
                    + e
                    + repeat(seed, path.get(0).number()),
                e);
        found = Optional.of(failure);
        throw failure;
      }
    }

    private void recover(SimWorld left, List<Cut> path, End end, long chance) throws IOException {
      long lot = Loss.mix(chance, 77);
      long next =
          depth < DEEPEST ? 1 + Long.remainderUnsigned(lot, POINTS_OF_RECOVERY) : Long.MAX_VALUE;
      left.points(new Cutter(seed, left, path, depth + 1, next));
      left.recover();
      left.adopt(end);
      int steps = Long.remainderUnsigned(lot >>> 8, 4) == 0 ? 8 : 1;
      new Workload(left, lot).steps(steps);
      boolean drain = Long.remainderUnsigned(lot >>> 16, 8) == 0;
      if (steps > 1 || drain) {
        left.verify();
        left.verifyAccounts();
      }
      if (drain) {
        left.drain();
      }
    }
  }
}
