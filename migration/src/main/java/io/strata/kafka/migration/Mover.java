package io.strata.kafka.migration;

import io.strata.kafka.api.MigrationListener;
import io.strata.kafka.api.Move;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.migration.plan.BackOffs;
import io.strata.kafka.migration.plan.BackOffs.FailureCause;
import io.strata.kafka.migration.plan.MigrationSettings;
import io.strata.kafka.migration.plan.Plan.PlannedMove;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult.Outcome;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Makes one move, within the rates, and says what came of it. Nothing that a move or a listener
 * throws gets past it.
 *
 * <p>Thread safety: safe for use by any number of threads, as the listeners are.
 */
final class Mover {

  private final TieredSegments segments;
  private final List<MigrationListener> listeners;
  private final EngineEvents events;
  private final BackOffs backOffs;
  private final EngineMeters meters;
  private final LongSupplier nanoTime;
  private final ByteRateLimiter down;
  private final ByteRateLimiter up;
  private volatile boolean stopping;

  Mover(
      TieredSegments segments,
      List<MigrationListener> listeners,
      EngineEvents events,
      BackOffs backOffs,
      EngineMeters meters,
      LongSupplier nanoTime) {
    this.segments = segments;
    this.listeners = List.copyOf(listeners);
    this.events = events;
    this.backOffs = backOffs;
    this.meters = meters;
    this.nanoTime = nanoTime;
    down = new ByteRateLimiter(nanoTime);
    up = new ByteRateLimiter(nanoTime);
  }

  /** Moves under way go on at the new rates. */
  void setRates(MigrationSettings settings) {
    down.setRate(settings.downBytesPerSecond());
    up.setRate(settings.upBytesPerSecond());
  }

  /** No move begins any more, those under way are cancelled. */
  void stop() {
    stopping = true;
    down.wakeAll();
    up.wakeAll();
  }

  /**
   * Makes a move.
   *
   * @return what is left of it, if it has copied a piece of the segment
   */
  Optional<PlannedMove> make(PlannedMove planned) {
    boolean eviction = planned.kind() == Move.Kind.EVICT;
    // A move that was queued before its target or its segment failed waits with the others.
    if (stopping
        || (!eviction && backOffs.allowance(planned.target()) == 0)
        || backOffs.waits(planned.id())) {
      return Optional.empty();
    }
    Optional<MoveResult> done = makeOne(planned);
    Optional<PlannedMove> rest = done.flatMap(result -> planned.after(result.bytes()));
    if (done.isPresent() && rest.isEmpty() && planned.evictAfter() && !stopping) {
      evictUpper(planned);
    }
    return rest;
  }

  /** The upper copy of a segment that has just been copied down. */
  private void evictUpper(PlannedMove destaged) {
    SegmentView clean = destaged.move().segment().copiedTo(destaged.move().toTier());
    if (clean.evictable()) {
      Optional<MoveResult> unused =
          makeOne(new PlannedMove(Move.evict(clean), destaged.target(), 0, false));
    }
  }

  private Optional<MoveResult> makeOne(PlannedMove planned) {
    Move move = planned.move();
    inform(listener -> listener.started(move));
    long began = nanoTime.getAsLong();
    try {
      MoveResult result = run(move);
      long nanos = nanoTime.getAsLong() - began;
      if (result.outcome() == Outcome.DONE) {
        meters.done(move, result.bytes(), nanos);
        backOffs.succeeded(planned);
        inform(listener -> listener.finished(move, result.bytes(), nanos));
        return Optional.of(result);
      }
      cancelled(planned, result);
    } catch (InterruptedException e) {
      // Only the JVM's end interrupts the engine's threads; the engine stops them otherwise.
      cancelled(planned, MoveResult.cancelled("interrupted"));
    } catch (IOException | RuntimeException e) {
      failed(planned, e);
    } catch (Error e) {
      // A fault under a mapping is an Error of the JVM; one segment's must not end all moves.
      failed(planned, new ExecutionException(e));
    }
    return Optional.empty();
  }

  private MoveResult run(Move move) throws IOException, InterruptedException {
    long id = move.segment().id();
    return switch (move.kind()) {
      case DESTAGE -> segments.destage(id, move.toTier(), control(move, down));
      case PROMOTE ->
          move.segment().active()
              ? segments.goOn(id, move.toTier(), control(move, down))
              : segments.promote(id, move.toTier(), control(move, up));
      case EVICT -> segments.evict(id);
    };
  }

  private MoveControl control(Move move, ByteRateLimiter limiter) {
    return new MoveControl() {
      @Override
      public boolean cancelled() {
        return stopping;
      }

      @Override
      public void beforeCopying(long bytes) throws InterruptedException {
        limiter.acquire(bytes, this::cancelled);
        meters.copying(move, bytes);
      }
    };
  }

  private void cancelled(PlannedMove planned, MoveResult result) {
    meters.cancelled().increment();
    if (!stopping) {
      // Not a failure, but the next round would plan the same again.
      backOffs.cancelled(planned.id());
      if (result.outcome() == Outcome.TARGET_FULL) {
        backOffs.failed(planned.target(), true);
      }
    }
    inform(listener -> listener.cancelled(planned.move(), result.reason()));
  }

  private void failed(PlannedMove planned, Exception cause) {
    FailureCause kind = causeOf(cause);
    meters.failures().merge(kind, 1L, Long::sum);
    BackOffs.Verdict verdict = backOffs.failed(planned.id(), kind);
    if (planned.kind() != Move.Kind.EVICT
        && (kind == FailureCause.NO_SPACE || kind == FailureCause.IO_ERROR)) {
      backOffs.failed(planned.target(), kind == FailureCause.NO_SPACE);
    }
    long retryMillis = TimeUnit.NANOSECONDS.toMillis(verdict.retryNanos());
    inform(listener -> listener.failed(planned.move(), cause, verdict.attempt(), retryMillis));
  }

  static FailureCause causeOf(Exception failure) {
    if (!(failure instanceof IOException)) {
      return FailureCause.OTHER;
    }
    if (failure instanceof CorruptSegmentException) {
      return FailureCause.CORRUPT_SEGMENT;
    }
    return NoSpaceException.isCauseOf(failure) ? FailureCause.NO_SPACE : FailureCause.IO_ERROR;
  }

  private void inform(Consumer<MigrationListener> message) {
    for (MigrationListener listener : listeners) {
      try {
        message.accept(listener);
      } catch (RuntimeException | Error e) {
        // Also Error: a plugin may have been compiled against other classes than the broker has.
        PlanningLoop.report(() -> events.listenerFailed(listener, e));
      }
    }
  }
}
