package io.strata.kafka.migration.plan;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.api.Move;
import io.strata.kafka.migration.plan.Plan.PlannedMove;
import io.strata.kafka.migration.plan.Plan.PlannedMove.Target;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/**
 * Times for which segments and targets wait after failures: the time doubles with each failure in a
 * row, with a random part, so that what failed together is not tried again together.
 *
 * <p>Thread safety: safe for use by any number of threads.
 */
public final class BackOffs {

  public static final long FIRST_NANOS = TimeUnit.SECONDS.toNanos(1);
  public static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(5);

  /** One bad segment does not stop a target; a few failures in a row are the target's. */
  private static final int FAILURES_OF_A_TARGET = 3;

  /**
   * A wait.
   *
   * @param cancelled moves cancelled without a fault, in a row with them
   * @param corrupt whether one of the failures found the segment corrupt
   * @param until by the clock for intervals
   */
  private record Wait(int failures, int cancelled, boolean corrupt, long until) {
    static final Wait NONE = new Wait(0, 0, false, 0);
  }

  private final LongSupplier nanoTime;

  @GuardedBy("this")
  private final RandomGenerator random;

  @GuardedBy("this")
  private final Map<Long, Wait> segments = new HashMap<>();

  @GuardedBy("this")
  private final Map<Target, Wait> targets = new HashMap<>();

  public BackOffs(LongSupplier nanoTime, RandomGenerator random) {
    this.nanoTime = nanoTime;
    this.random = random;
  }

  /** The consequence of a failure. */
  public record Verdict(int attempt, long retryNanos) {}

  /** A move of a segment failed: it is let alone for a while. */
  public synchronized Verdict failed(long segment, FailureCause cause) {
    Wait before = waitOf(segment);
    boolean corrupt = before.corrupt() || cause == FailureCause.CORRUPT_SEGMENT;
    return letAlone(segment, before.failures() + 1, before.cancelled(), corrupt);
  }

  /** A move of a segment was cancelled: planned again at once, it would be cancelled again. */
  public synchronized void cancelled(long segment) {
    Wait before = waitOf(segment);
    Verdict unused = letAlone(segment, before.failures(), before.cancelled() + 1, before.corrupt());
  }

  @GuardedBy("this")
  private Wait waitOf(long segment) {
    return segments.getOrDefault(segment, Wait.NONE);
  }

  @GuardedBy("this")
  private Verdict letAlone(long segment, int failures, int cancelled, boolean corrupt) {
    long wait = wait(failures + cancelled);
    segments.put(segment, new Wait(failures, cancelled, corrupt, nanoTime.getAsLong() + wait));
    return new Verdict(failures, wait);
  }

  /**
   * A copy to a target failed.
   *
   * @param surely whether it is the target that is at fault, and not perhaps the segment
   */
  public synchronized void failed(Target target, boolean surely) {
    int failures = targets.getOrDefault(target, Wait.NONE).failures();
    failures = surely ? Math.max(failures + 1, FAILURES_OF_A_TARGET) : failures + 1;
    int beyond = failures - FAILURES_OF_A_TARGET + 1;
    long wait = beyond < 1 ? 0 : wait(beyond);
    targets.put(target, new Wait(failures, 0, false, nanoTime.getAsLong() + wait));
  }

  /**
   * A move has been made. A copy shows that neither its segment nor its target is at fault any
   * more. An eviction copies nothing: it shows nothing of its target, and a segment that was found
   * corrupt stays so.
   */
  public synchronized void succeeded(PlannedMove move) {
    boolean copied = move.kind() != Move.Kind.EVICT;
    segments.computeIfPresent(move.id(), (id, wait) -> wait.corrupt() && !copied ? wait : null);
    if (copied) {
      targets.remove(move.target());
    }
  }

  public synchronized boolean waits(long segment) {
    Wait wait = segments.get(segment);
    return wait != null && wait.until() - nanoTime.getAsLong() > 0;
  }

  /**
   * Returns how many moves to a target may be under way at once: none while it waits after a
   * failure, one to find out whether it works again, otherwise any number.
   */
  public synchronized int allowance(Target target) {
    Wait wait = targets.get(target);
    if (wait == null || wait.failures() < FAILURES_OF_A_TARGET) {
      return Integer.MAX_VALUE;
    }
    return wait.until() - nanoTime.getAsLong() > 0 ? 0 : 1;
  }

  /** Returns whether a wait has ended since then, by the clock for intervals. */
  synchronized boolean endedSince(long nanos) {
    long now = nanoTime.getAsLong();
    return Stream.of(segments, targets)
        .flatMap(waits -> waits.values().stream())
        .anyMatch(wait -> wait.until() - nanos > 0 && wait.until() - now <= 0);
  }

  /**
   * Returns how many segments wait after a failure. The wait after a cancelled move does not count.
   */
  public synchronized int waiting() {
    long now = nanoTime.getAsLong();
    return (int)
        segments.values().stream().filter(w -> w.failures() > 0 && w.until() - now > 0).count();
  }

  /** Returns how many segments a move has found corrupt, and no move has copied since. */
  public synchronized int corrupt() {
    return (int) segments.values().stream().filter(Wait::corrupt).count();
  }

  /** Returns whether there is anything that {@link #retain} could forget. */
  public synchronized boolean remembersSegments() {
    return !segments.isEmpty();
  }

  public synchronized void retain(LongPredicate exists) {
    segments.keySet().removeIf(id -> !exists.test(id));
  }

  @GuardedBy("this")
  private long wait(int failures) {
    long full = Math.min(LONGEST_NANOS, FIRST_NANOS << Math.min(failures - 1, 20));
    return full / 2 + random.nextLong(full / 2 + 1);
  }

  /** Why a move failed, as metrics distinguish it. */
  public enum FailureCause {
    /** The target's file system has no space, or a quota is used up. */
    NO_SPACE,
    /** Reading or writing failed. */
    IO_ERROR,
    /** The segment's own bytes are not what Kafka wrote: they are copied nowhere. */
    CORRUPT_SEGMENT,
    /** Anything else: a fault of Strata. */
    OTHER;

    /** For metrics and tables: lower-case letters and hyphens. */
    public String label() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }
}
