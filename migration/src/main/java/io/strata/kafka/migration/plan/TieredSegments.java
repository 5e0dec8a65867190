package io.strata.kafka.migration.plan;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierUsage;
import io.strata.kafka.migration.CorruptSegmentException;
import java.io.IOException;
import java.util.List;
import java.util.Set;

/**
 * The tiers as the engine moves segments in them: what the broker's side implements.
 *
 * <p>Every move leaves at least one whole, durable copy at any moment, whatever happens; readers
 * and appends go on during it and do not notice it. A segment that is changed, deleted or renamed
 * while it is copied wins: the move is {@linkplain MoveResult.Outcome#CANCELLED cancelled}.
 *
 * <p>Thread safety: all methods may be called by any number of threads; the caller makes at most
 * one move of a segment at a time.
 */
public interface TieredSegments {

  /**
   * Returns whether segments may move yet; once true, it stays true. Until then the engine makes no
   * plan, sets no order of eviction and moves nothing.
   */
  default boolean mayMove() {
    return true;
  }

  /**
   * All segments that may move, and the tiers' usage without any demand ({@code excessBytes} and
   * {@code spareBytes} are 0). Costs time in proportion to the number of segments; does no I/O.
   */
  State state();

  /**
   * The tiers' usage without any demand, as {@link #state} has it. An implementation that keeps
   * sums need not ask every segment; does no I/O.
   */
  default List<TierUsage> usages() {
    return state().tiers();
  }

  /**
   * Usages and segments.
   *
   * @param tiers fastest first, the log directories excepted
   * @param segments in no particular order
   * @param unwanted the numbers of those that would not be placed in a pool today: they leave the
   *     pools as those of excluded topics do, pinned or not
   * @param relocates whether a copy into another tier with space of its own takes the segment out
   *     of the one that it was in; else it stays there too
   */
  record State(
      List<TierUsage> tiers, List<SegmentView> segments, Set<Long> unwanted, boolean relocates) {
    public State {
      tiers = List.copyOf(tiers);
      segments = List.copyOf(segments);
      unwanted = Set.copyOf(unwanted);
    }

    /** With every segment wanted where it is, and copies that stay. */
    public State(List<TierUsage> tiers, List<SegmentView> segments) {
      this(tiers, segments, Set.of(), false);
    }
  }

  /**
   * Copies a segment down, verifies the copy and makes it durable: the segment is clean, or, if the
   * tier is not the last and {@link State#relocates}, in that tier now. In a tier without enough
   * free space, clean segments are evicted for it. The bytes that an active segment has now are
   * copied, to the log directories alone. A copy to the log directories may be of a piece: then the
   * segment is dirty still, and the result has fewer bytes than were dirty.
   *
   * @param id {@link SegmentView#id}
   * @param toTier a tier below the segment's; the log directories are the last
   * @throws CorruptSegmentException if the segment's own bytes are not what Kafka wrote: they are
   *     copied nowhere
   * @throws IOException if the copy failed; the segment is as it was
   */
  MoveResult destage(long id, int toTier, MoveControl control)
      throws IOException, InterruptedException;

  /** Discards the upper copy of a clean segment; of any other the part that a lower tier has. */
  MoveResult evict(long id) throws IOException;

  /**
   * Copies a sealed segment up, into free space; it is clean there if the lower copy stays. A
   * spilled segment whose own tier is given becomes whole there.
   *
   * @throws CorruptSegmentException as {@link #destage}
   * @throws IOException if the copy failed; the segment is as it was
   */
  MoveResult promote(long id, int toTier, MoveControl control)
      throws IOException, InterruptedException;

  /**
   * Sends the appends to an active segment to a pool of a tier again: it has spilled there, or has
   * found no space in any.
   *
   * @throws IOException if that failed; the segment goes on where it is
   */
  default MoveResult goOn(long id, int toTier, MoveControl control)
      throws IOException, InterruptedException {
    return MoveResult.cancelled("nothing is appended to here");
  }

  /**
   * Names the clean segments that an append may evict for its space from now on, the first one
   * first. Segments that become clean later come after them. Segments that are not listed and were
   * clean before are not evicted. Some that are listed may not be clean yet, or no longer: they are
   * skipped.
   *
   * @param ids {@link SegmentView#id}s
   */
  void evictionOrder(List<Long> ids);

  /**
   * Runs {@code wake} when something happens that planning should not wait for: a segment was
   * sealed, or an append found no space. It must be quick. Does nothing where neither happens.
   */
  default void onDemand(Runnable wake) {}

  /**
   * The questions of a move while it copies.
   *
   * <p>Thread safety: used by the moving thread.
   */
  interface MoveControl {

    /** Neither waits nor stops. */
    MoveControl UNLIMITED = new MoveControl() {};

    /**
     * The most bytes that a copy to the log directories takes at once: large enough that the force
     * at its end costs little, and small enough that segments take turns and that little is copied
     * in vain when a copy is cancelled. A batch of records is never divided.
     */
    default long pieceBytes() {
      return 64 << 20;
    }

    /** Returns whether the move is to stop as soon as it can; asked before each piece. */
    default boolean cancelled() {
      return false;
    }

    /**
     * Waits until the rate limit lets {@code bytes} be copied. Called before each piece, and never
     * with a lock held that an append could wait for.
     *
     * @param bytes from 1 to 1 MiB
     */
    default void beforeCopying(long bytes) throws InterruptedException {}
  }

  /**
   * How a move ended that did not fail.
   *
   * @param bytes copied; for an eviction, freed; 0 unless done
   * @param reason one phrase; empty when done
   */
  record MoveResult(Outcome outcome, long bytes, String reason) {

    /** How a move ended. */
    public enum Outcome {
      /** It has been made. */
      DONE,
      /** The segment is gone or changed, or the engine asked to stop. */
      CANCELLED,
      /** The target tier has no space, clean segments evicted. */
      TARGET_FULL
    }

    public static MoveResult done(long bytes) {
      return new MoveResult(Outcome.DONE, bytes, "");
    }

    public static MoveResult cancelled(String reason) {
      return new MoveResult(Outcome.CANCELLED, 0, reason);
    }

    public static MoveResult targetFull(String reason) {
      return new MoveResult(Outcome.TARGET_FULL, 0, reason);
    }
  }
}
