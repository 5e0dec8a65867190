package io.strata.kafka.crash;

import io.strata.kafka.crash.FailingCall.Failure;
import io.strata.kafka.crash.FailingCall.Plan;
import io.strata.kafka.crash.SimWorld.End;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Runs a workload in which a call fails, as Kafka goes on with that: an {@link IOException} takes
 * the log directory away until the next start, an {@link Error} the partition. A second log
 * directory has a segment that must go on. Then the process ends, in each way, and the fault is
 * gone: everything is there, and works.
 *
 * <p>Thread safety: none.
 */
final class FailingRun {

  private static final String OTHER = "/other";
  private static final int STEPS = 60;
  private static final int STEPS_AFTER = 3;
  private static final int POWER_CUTS = Integer.getInteger("strata.failing.cuts", 2);

  private final long seed;
  private final Optional<Plan> plan;
  private final FailingCall calls;
  private final SimWorld world;
  private final Expected bystander;

  /** Chooses what a power cut takes, and what is done after it. */
  private final long lot;

  private boolean offline;
  private boolean skipped;
  private long ends;

  FailingRun(long seed, Setup setup, Optional<Plan> plan) throws IOException {
    this.seed = seed;
    this.plan = plan;
    lot = Loss.mix(seed, plan.toString().hashCode());
    calls = new FailingCall(plan, SimWorld.LOGS);
    world = SimWorld.create(setup, List.of(SimWorld.LOGS, OTHER));
    Path directory = world.disk.getPath(OTHER + "/bystander-0");
    Files.createDirectory(directory);
    world.open();
    bystander = world.create(OTHER, "bystander-0");
    appendToBystander(world, bystander);
    world.close();
    world.faults(this::requireFault);
    world.calls(calls);
  }

  /** How many calls of each kind the workload of a seed makes. */
  static Map<Call, Long> count(long seed, Setup setup) throws IOException {
    FailingRun run = new FailingRun(seed, setup, Optional.empty());
    run.live();
    return run.calls.counts();
  }

  /**
   * Runs a workload in which a call fails.
   *
   * @return after how many ends of the process everything was there
   */
  static long run(long seed, Setup setup, Plan plan) {
    FailingRun run;
    try {
      run = new FailingRun(seed, setup, Optional.of(plan));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    try {
      run.live();
      run.end();
      return run.ends;
    } catch (IOException | RuntimeException | Error e) {
      throw new AssertionError(
          """
          %s, seed %d, %s (%s): %s
          to repeat: mvn test -pl pmem-tier -am -Dtest=FailingCallsTest \
          -Dsurefire.failIfNoSpecifiedTests=false -Dstrata.failing.seed=%d -Dstrata.failing.call=%s \
          -Dstrata.failing.n=%d -Dstrata.failing.how=%s,%s\
          """
              .formatted(
                  setup,
                  seed,
                  plan,
                  run.calls.where(),
                  e,
                  seed,
                  plan.call(),
                  plan.n(),
                  plan.failure(),
                  plan.lasting()),
          e);
    } finally {
      boolean unused = Thread.interrupted();
    }
  }

  private static void appendToBystander(SimWorld to, Expected segment) throws IOException {
    to.append(segment, SimBatches.of(700, segment.content.length));
    to.flush(segment);
  }

  private void requireFault(Throwable cause) {
    boolean unused = Thread.interrupted();
    if (calls.failed() == 0) {
      throw new AssertionError("found an error before any call had failed", cause);
    }
  }

  SimWorld world() {
    return world;
  }

  /** The call that failed first, and who made it. */
  String where() {
    return calls.where();
  }

  /** Works until the end, or until Kafka has nothing left to work with. */
  void live() throws IOException {
    calls.arm(true);
    try {
      world.open();
      findSkipped();
      Workload workload = new Workload(world, seed);
      for (int i = 0; i < STEPS && world.isUp() && !offline; i++) {
        step(workload);
      }
    } catch (IOException | OutOfMemoryError e) {
      requireFault(e); // The start was refused, or Kafka could not list its logs.
    }
    if (world.isUp()) {
      world.background().settle();
      boolean unused = Thread.interrupted();
      goOnBeside();
      read();
    }
  }

  private void step(Workload workload) {
    try {
      workload.step();
    } catch (IOException e) {
      requireFault(e);
      offline = true;
    } catch (OutOfMemoryError e) {
      requireFault(e);
      workload.giveUp();
    } finally {
      boolean unused = Thread.interrupted();
    }
    findSkipped();
  }

  /** Kafka writes its own files in a log directory that was skipped, with its own promises. */
  private void findSkipped() {
    if (world.isUp() && !world.openTier().skipped().isEmpty()) {
      if (world.openTier().skipped().stream().anyMatch(each -> each.startsWith(OTHER))) {
        throw new AssertionError("skipped " + world.openTier().skipped());
      }
      skipped = true;
      offline = true;
    }
  }

  /** What has failed is not the other log directory, nor all of the memory. */
  private void goOnBeside() throws IOException {
    try {
      appendToBystander(world, bystander);
    } catch (IOException | OutOfMemoryError e) {
      requireFault(e);
      if (plan.filter(p -> p.ofPool() || p.failure() == Failure.MEMORY).isEmpty()) {
        throw new AssertionError("the other log directory failed, too", e);
      }
    }
  }

  /** What can be read is right. */
  private void read() throws IOException {
    for (Expected segment : world.segments.values()) {
      if (segment.state == Expected.State.LIVE) {
        long before = calls.failed();
        try {
          world.verifyRead(segment);
        } catch (IOException | OutOfMemoryError e) {
          boolean unused = Thread.interrupted();
          if (calls.failed() == before && !skipped && plan.filter(Plan::isOnce).isPresent()) {
            throw new AssertionError(segment + " can be read no more", e);
          }
        }
      }
    }
  }

  private void end() throws IOException {
    if (calls.failed() == 0) {
      return; // Times and identities differ from run to run, and so do the last few calls.
    }
    recover(world.crash(End.KILL, new Loss(0)), End.KILL);
    for (int i = 0; i < POWER_CUTS; i++) {
      recover(world.crash(End.POWER_CUT, new Loss(Loss.mix(lot, i), i % 2 == 1)), End.POWER_CUT);
    }
    if (world.isUp()) {
      stop();
      recover(world.crash(End.KILL, new Loss(0)), End.KILL);
    }
  }

  private void stop() throws IOException {
    long before = calls.failed();
    try {
      world.close();
      if (!world.disk.open().isEmpty()) {
        throw new AssertionError("found open after the stop: " + world.disk.open());
      }
    } catch (IOException | OutOfMemoryError e) {
      requireFault(e);
      if (calls.failed() == before && plan.filter(p -> p.isOnce() && !p.ofPool()).isPresent()) {
        throw new AssertionError("the stop failed", e);
      }
    }
  }

  private void recover(SimWorld left, End end) throws IOException {
    left.recover();
    left.adopt(end);
    new Workload(left, lot).steps(STEPS_AFTER);
    for (Expected segment : left.segments.values()) {
      if (segment.root.equals(OTHER)) {
        appendToBystander(left, segment);
      }
    }
    left.verify();
    left.verifyAccounts();
    if (Long.remainderUnsigned(lot, 4) == 0) {
      left.drain();
    }
    ends++;
  }
}
