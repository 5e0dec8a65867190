package io.strata.kafka.metrics;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes into the broker's log what an operator must know of the remote tier's settings. The
 * manager itself logs its segments' events.
 *
 * <p>Thread safety: may be called by any thread.
 */
public final class RemoteLog {

  private final Logger log;

  /** The broker's log. */
  public RemoteLog() {
    this(LoggerFactory.getLogger("io.strata.kafka.remote"));
  }

  RemoteLog(Logger log) {
    this.log = log;
  }

  /** Logs new settings. */
  public void reconfigured(String what) {
    log.info("The remote tier's settings changed on the live broker: {}", what);
  }

  /** Logs keys that were left out. */
  public void ignored(List<String> names) {
    log.warn(
        """
        Dynamic configuration that this broker's remote tier has no use for, left out: {}. Remove \
        it with kafka-configs.sh --delete-config.\
        """,
        String.join(", ", names));
  }

  /** Logs a warning that has no event of its own. */
  public void warning(String message) {
    log.warn("{}", message);
  }
}
