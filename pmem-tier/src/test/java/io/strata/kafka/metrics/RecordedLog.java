package io.strata.kafka.metrics;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.LinkedBlockingQueue;
import org.slf4j.Logger;
import org.slf4j.event.EventRecodingLogger;
import org.slf4j.event.SubstituteLoggingEvent;
import org.slf4j.helpers.MessageFormatter;
import org.slf4j.helpers.SubstituteLogger;

/**
 * A logger that keeps what it is told.
 *
 * <p>Thread safety: may be used by any thread.
 */
final class RecordedLog {

  private final Queue<SubstituteLoggingEvent> events = new LinkedBlockingQueue<>();
  private final Logger logger =
      new EventRecodingLogger(new SubstituteLogger("recorded", events, false), events);

  Logger logger() {
    return logger;
  }

  Queue<SubstituteLoggingEvent> events() {
    return events;
  }

  /** Level and text of each line. */
  List<String> messages() {
    return events.stream()
        .map(
            event ->
                event.getLevel()
                    + " "
                    + MessageFormatter.arrayFormat(event.getMessage(), event.getArgumentArray())
                        .getMessage())
        .toList();
  }
}
