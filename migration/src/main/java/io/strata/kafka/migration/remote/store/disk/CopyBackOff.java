package io.strata.kafka.migration.remote.store.disk;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Sends copies past a directory in which one has failed by the directory's fault: for a while, and
 * after the next failure for twice as long, until one succeeds. It only gives the others
 * precedence: a copy that no other directory takes goes there all the same, since the fault may be
 * that of one topic's files.
 */
final class CopyBackOff {

  private static final Duration FIRST = Duration.ofSeconds(30);
  private static final Duration LONGEST = Duration.ofMinutes(8);

  private final LongSupplier nanoTime;

  @GuardedBy("this")
  private Optional<Failure> last = Optional.empty();

  /** The failure that began the pause. */
  private record Failure(String reason, long since, Duration pause) {}

  CopyBackOff(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Begins a pause; failures of copies that were under way then do not make it longer. */
  synchronized void failed(String reason) {
    if (reason().isEmpty()) {
      Duration pause = last.map(failure -> failure.pause.multipliedBy(2)).orElse(FIRST);
      last =
          Optional.of(
              new Failure(
                  reason, nanoTime.getAsLong(), pause.compareTo(LONGEST) < 0 ? pause : LONGEST));
    }
  }

  synchronized void succeeded() {
    last = Optional.empty();
  }

  /** Returns the reason while the pause lasts. */
  synchronized Optional<String> reason() {
    return last.filter(failure -> nanoTime.getAsLong() - failure.since < failure.pause.toNanos())
        .map(Failure::reason);
  }
}
