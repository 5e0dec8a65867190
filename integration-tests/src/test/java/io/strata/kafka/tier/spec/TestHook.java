package io.strata.kafka.tier.spec;

import io.strata.kafka.migration.plan.MigrationSettings;
import io.strata.kafka.migration.remote.RemoteSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;

/**
 * Takes the place of the product's class of the same name, where a test puts it in front of the jar
 * on a JVM's class path. System properties of that JVM say what it does:
 *
 * <ul>
 *   <li>{@value #HALT}: ends the JVM, as {@code kill -9} does, when a move or work on the remote
 *       store reaches the stage of that name; {@code EVICT_FREED:3} when it does so the third time;
 *   <li>{@value #PLACEMENT}: places files in a pool whose absolute path matches;
 *   <li>{@value #REPORT}: writes a file with counts when the JVM ends;
 *   <li>{@value #INVENTORY_MILLIS}, {@value #ORPHAN_MILLIS}: what a remote tier works by in the
 *       place of a minute and an hour;
 *   <li>{@value #PROMOTE}: {@code false} keeps a remote tier from copying up;
 *   <li>{@value #ONE_LEVEL}: {@code true} keeps each segment in one level alone, and from going up.
 * </ul>
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
public final class TestHook {

  /** Stage, or stage and number. */
  public static final String HALT = "strata.test.halt";

  /** A regular expression. */
  public static final String PLACEMENT = "strata.test.placement";

  /** A file's path. */
  public static final String REPORT = "strata.test.report";

  /** How often a remote store is listed. */
  public static final String INVENTORY_MILLIS = "strata.test.inventory.ms";

  /** How old what failed copies have left in a remote store must be. */
  public static final String ORPHAN_MILLIS = "strata.test.orphan.ms";

  /** Whether segments of a remote tier are copied up. */
  public static final String PROMOTE = "strata.test.promote";

  /** Whether a segment that a lower level has leaves the upper one at once. */
  public static final String ONE_LEVEL = "strata.test.one.level";

  /** The exit code of a JVM that was halted: a shell's for a killed process. */
  public static final int HALTED = 137;

  private static final String[] STAGE = System.getProperty(HALT, "").split(":", 2);
  private static final AtomicInteger LEFT =
      new AtomicInteger(STAGE.length == 1 ? 1 : Integer.parseInt(STAGE[1]));

  private TestHook() {}

  /** Halts the JVM at the stage that was asked for. */
  public static void reached(Enum<?> stage) {
    if (stage.name().equals(STAGE[0]) && LEFT.decrementAndGet() == 0) {
      Runtime.getRuntime().halt(HALTED);
    }
  }

  /** The pattern that was asked for. */
  public static Optional<Pattern> placement() {
    return Optional.ofNullable(System.getProperty(PLACEMENT)).map(Pattern::compile);
  }

  /** With what was asked for. */
  public static RemoteSettings.Live remote(RemoteSettings.Live live) {
    MigrationSettings moves = live.migration();
    boolean one = Boolean.getBoolean(ONE_LEVEL);
    return new RemoteSettings.Live(
        live.copyTimeout(),
        live.fetchTimeout(),
        live.deleteTimeout(),
        millis(INVENTORY_MILLIS, live.inventoryInterval()),
        live.scrubInterval(),
        millis(ORPHAN_MILLIS, live.orphanAge()),
        new MigrationSettings(
            one ? MigrationSettings.Mode.THRESHOLD : moves.mode(),
            moves.thresholds(),
            moves.hysteresis(),
            !one && !"false".equals(System.getProperty(PROMOTE)),
            moves.threads(),
            moves.downBytesPerSecond(),
            moves.upBytesPerSecond(),
            Duration.ofMillis(200),
            moves.policy(),
            moves.policyParameters(),
            moves.pinnedTopics()));
  }

  private static Duration millis(String property, Duration otherwise) {
    return Duration.ofMillis(Long.getLong(property, otherwise.toMillis()));
  }

  /** Kafka's own tests pass without Strata too: the report shows how many files were placed. */
  public static void opened(LongSupplier placements) {
    String file = System.getProperty(REPORT);
    if (file != null) {
      Runtime.getRuntime().addShutdownHook(new Thread(() -> report(placements, Path.of(file))));
    }
  }

  private static void report(LongSupplier placements, Path file) {
    try {
      Files.writeString(file, "segments.placed=" + placements.getAsLong() + "\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
