package io.strata.kafka.metrics;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.api.MigrationListener;
import io.strata.kafka.api.Move;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.migration.CorruptSegmentException;
import io.strata.kafka.migration.EngineEvents;
import io.strata.kafka.migration.NoSpaceException;
import io.strata.kafka.migration.RateLimit;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes into the broker's log what an operator must know of the moves between tiers: what fails,
 * once a minute for each target and cause; a corrupt segment once; and when it works again.
 *
 * <p>Thread safety: may be called by any thread.
 */
public final class MigrationLog implements MigrationListener, EngineEvents {

  /** So many corrupt segments are remembered as logged; one more may be logged twice. */
  private static final int LOGGED = 10_000;

  /** A recurring failure: its target and its sort. */
  private record Trouble(String target, String sort) {}

  private final Logger log;
  private final LongSupplier nanoTime;
  private final List<String> tiers;
  private final RateLimit rounds;
  private final RateLimit refusals;
  private final RateLimit listeners;

  @GuardedBy("this")
  private final Map<Trouble, RateLimit> limits = new HashMap<>();

  /** Failures in a row for each target. */
  @GuardedBy("this")
  private final Map<String, Long> failing = new HashMap<>();

  @GuardedBy("this")
  private final Set<Long> corrupt = new LinkedHashSet<>();

  /**
   * A log by the system's clock.
   *
   * @param tiers the tiers' names without the log directories', fastest first
   */
  public MigrationLog(List<String> tiers) {
    this(LoggerFactory.getLogger("io.strata.kafka.migration"), System::nanoTime, tiers);
  }

  MigrationLog(Logger log, LongSupplier nanoTime, List<String> tiers) {
    this.log = log;
    this.nanoTime = nanoTime;
    this.tiers = List.copyOf(tiers);
    this.rounds = new RateLimit(nanoTime);
    this.refusals = new RateLimit(nanoTime);
    this.listeners = new RateLimit(nanoTime);
  }

  @Override
  public void finished(Move move, long bytes, long nanos) {
    if (move.kind() == Move.Kind.EVICT) {
      return; // copies nothing, so it does not show whether the target works
    }
    long failures;
    synchronized (this) {
      corrupt.remove(move.segment().id());
      failures = Optional.ofNullable(failing.remove(target(move))).orElse(0L);
    }
    if (failures > 0) {
      log.info(
          "Copies to {} succeed again, after {} failed; the first was {}, {}",
          target(move),
          failures,
          move.segment().name().id(),
          describe(move));
    }
  }

  @Override
  public void failed(Move move, Exception cause, int attempt, long retryMillis) {
    if (cause instanceof CorruptSegmentException) {
      corrupt(move, cause);
      return;
    }
    RateLimit limit;
    String sort = sort(cause);
    synchronized (this) {
      if (move.kind() != Move.Kind.EVICT) {
        failing.merge(target(move), 1L, Long::sum);
      }
      limit =
          limits.computeIfAbsent(
              new Trouble(target(move), sort), trouble -> new RateLimit(nanoTime));
    }
    limit.ifDue(before -> warn(move, cause, sort, attempt, retryMillis, before));
  }

  private void warn(
      Move move, Exception cause, String sort, int attempt, long retryMillis, long before) {
    String message =
        """
        %s (%s): %s; attempt %s, tried again in %s. The segment is where it was. %s more such \
        failures since the last such line.\
        """
            .formatted(attempted(move), sort, cause, attempt, seconds(retryMillis), before);
    if (cause instanceof IOException) {
      log.warn("{}", message);
    } else {
      log.warn("{}", message, cause);
    }
  }

  private void corrupt(Move move, Exception cause) {
    boolean first;
    synchronized (this) {
      first = corrupt.add(move.segment().id());
      if (corrupt.size() > LOGGED) {
        corrupt.remove(corrupt.iterator().next());
      }
    }
    if (first) {
      log.error(
          """
          Segment {} in {} is corrupt, stays in tier {} and is copied nowhere: {}. If another \
          replica is in sync, stop the broker, move the partition's directory out of the log \
          directory, and Kafka replicates it after the start; check the device of the tier.\
          """,
          move.segment().name().id(),
          move.segment().logDirectory(),
          name(move.segment().tier()),
          cause.getMessage());
    }
  }

  @Override
  public void roundFailed(Throwable cause, long inARow) {
    rounds.ifDue(
        unused ->
            log.warn(
                """
                Planning which segments move failed, {} times in a row: nothing moves until it \
                succeeds. Appends go on, and go to the log files when the pools are full. If the \
                policy (strata.migration.policy) is at fault, choose another with \
                kafka-configs.sh.\
                """,
                inARow,
                cause));
  }

  @Override
  public void roundsSucceedAgain(long failed) {
    log.info("Planning which segments move succeeds again, after {} failed rounds", failed);
  }

  @Override
  public void refused(Move move, String reason) {
    refusals.ifDue(
        before ->
            log.warn(
                """
                The policy planned {}, which is not allowed: {}. It was dropped, as were moves in \
                {} rounds before it since the last such line.\
                """,
                move,
                reason,
                before));
  }

  @Override
  public void listenerFailed(MigrationListener listener, Throwable cause) {
    listeners.ifDue(
        unused ->
            log.warn(
                "The migration listener {} threw; dropped", listener.getClass().getName(), cause));
  }

  public void reconfigured(String what) {
    log.info("Migration settings changed on the live broker: {}", what);
  }

  /** Logs keys that were left out. */
  public void ignored(List<String> names) {
    log.warn(
        """
        Dynamic configuration that this broker has no use for, left out: {}. Remove it with \
        kafka-configs.sh --delete-config.\
        """,
        String.join(", ", names));
  }

  public void warning(String message) {
    log.warn("{}", message);
  }

  private static String sort(Throwable cause) {
    if (!(cause instanceof IOException)) {
      return "a fault of Strata or of a plugin";
    }
    return NoSpaceException.isCauseOf(cause) ? "no space" : "I/O error";
  }

  private String attempted(Move move) {
    return move.kind() == Move.Kind.EVICT
        ? "Could not evict %s from %s".formatted(move.segment().name().id(), target(move))
        : "Could not copy %s %s".formatted(move.segment().name().id(), describe(move));
  }

  /** The unit that fails: the log files of one log directory, or a tier as a whole. */
  private String target(Move move) {
    if (move.kind() == Move.Kind.EVICT) {
      return "tier " + name(move.segment().tier());
    }
    return move.toTier() < tiers.size()
        ? "tier " + name(move.toTier())
        : "the log files in " + move.segment().logDirectory();
  }

  private String describe(Move move) {
    return "%s from %s to %s"
        .formatted(
            move.kind() == Move.Kind.PROMOTE ? "up" : "down",
            name(move.segment().tier()),
            target(move));
  }

  private String name(int tier) {
    return tier < tiers.size() ? tiers.get(tier) : SegmentView.LOG_DIRS;
  }

  private static String seconds(long millis) {
    Duration time = Duration.ofMillis(millis);
    return time.toSeconds() < 120
        ? String.format(Locale.ROOT, "%.1f s", millis / 1e3)
        : time.toMinutes() + " min";
  }
}
