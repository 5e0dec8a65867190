package io.strata.kafka.tier.spec;

import io.strata.kafka.migration.remote.RemoteSettings;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;

/**
 * The changes that the project's own tests make in a broker's JVM. Here there are none.
 *
 * <p>A test puts another class of this name in front of the jar on the class path. No property and
 * no key leads to it.
 */
public final class TestHook {

  private TestHook() {}

  /** Called when a move or work on the remote store has reached a stage, by the thread that did. */
  public static void reached(Enum<?> stage) {}

  /**
   * Files whose absolute path matches are placed in a pool, whatever their names. Empty in a
   * broker, where Kafka's segments are.
   */
  public static Optional<Pattern> placement() {
    return Optional.empty();
  }

  /** Returns what a remote tier works by. */
  public static RemoteSettings.Live remote(RemoteSettings.Live live) {
    return live;
  }

  /**
   * Called once, when the tier is open.
   *
   * @param placements returns how many segments have been placed since then
   */
  public static void opened(LongSupplier placements) {}
}
