package io.strata.kafka.migration;

import io.strata.kafka.api.MigrationListener;
import java.util.List;
import java.util.function.Consumer;

/**
 * Notifies listeners; what one throws reaches neither the others nor the engine.
 *
 * <p>Thread safety: safe for use by any number of threads, as the listeners are.
 */
final class Listeners {

  private final List<MigrationListener> listeners;
  private final EngineEvents events;

  Listeners(List<MigrationListener> listeners, EngineEvents events) {
    this.listeners = List.copyOf(listeners);
    this.events = events;
  }

  void inform(Consumer<MigrationListener> message) {
    for (MigrationListener listener : listeners) {
      try {
        message.accept(listener);
      } catch (RuntimeException | LinkageError e) {
        // LinkageError: a plugin that was compiled against other classes than the broker has.
        tellThatItFailed(listener, e);
      }
    }
  }

  private void tellThatItFailed(MigrationListener listener, Throwable cause) {
    try {
      events.listenerFailed(listener, cause);
    } catch (RuntimeException expected) {
      // There is nobody left to notify, and a move that has been made must count.
    }
  }
}
