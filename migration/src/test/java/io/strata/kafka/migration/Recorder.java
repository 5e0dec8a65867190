package io.strata.kafka.migration;

import io.strata.kafka.api.MigrationListener;
import io.strata.kafka.api.Move;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Notes what it is told. Thread safety: safe for use by any number of threads. */
final class Recorder implements MigrationListener, EngineEvents {
  final List<String> started = new CopyOnWriteArrayList<>();
  final List<String> finished = new CopyOnWriteArrayList<>();
  final List<String> cancelled = new CopyOnWriteArrayList<>();
  final List<String> failed = new CopyOnWriteArrayList<>();
  final List<String> engine = new CopyOnWriteArrayList<>();

  @Override
  public void started(Move move) {
    started.add(move.toString());
  }

  @Override
  public void finished(Move move, long bytes, long nanos) {
    finished.add(move.toString());
  }

  @Override
  public void cancelled(Move move, String reason) {
    cancelled.add(move + ": " + reason);
  }

  @Override
  public void failed(Move move, Exception cause, int attempt, long retryMillis) {
    failed.add(move + ": " + cause.getMessage() + ", attempt " + attempt);
  }

  @Override
  public void roundFailed(Throwable cause, long inARow) {
    engine.add("round failed " + inARow + ": " + cause.getMessage());
  }

  @Override
  public void roundsSucceedAgain(long failures) {
    engine.add("rounds succeed again after " + failures);
  }

  @Override
  public void refused(Move move, String reason) {
    engine.add("refused " + move + ": " + reason);
  }

  @Override
  public void listenerFailed(MigrationListener listener, Throwable cause) {
    engine.add("listener failed: " + cause.getMessage());
  }
}
