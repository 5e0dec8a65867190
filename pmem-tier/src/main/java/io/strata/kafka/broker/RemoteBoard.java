package io.strata.kafka.broker;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.metrics.RemoteMetrics;
import io.strata.kafka.metrics.RemoteStatusBean;
import io.strata.kafka.migration.remote.RemoteStats;
import java.time.InstantSource;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Holds what the remote tier has published in this process' JMX, where there is one place for it.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
final class RemoteBoard {

  private final RemoteChanges changes;

  @GuardedBy("this")
  private @Nullable RemoteMetrics published;

  RemoteBoard(RemoteChanges changes) {
    this.changes = changes;
  }

  /** Publishes metrics and status, in the place of what was published before. */
  synchronized void publish(Supplier<RemoteStats> stats) {
    if (published != null) {
      published.close();
    }
    published = RemoteMetrics.publish(stats);
    String broker = changes.brokerId().stream().mapToObj(String::valueOf).findAny().orElse("");
    new RemoteStatusBean(broker, stats, changes::settings, InstantSource.system()).publish();
  }
}
