package io.strata.kafka.turns;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Each guard against a race is taken away in turn, and a play finds out.
 *
 * <p>{@code guards.txt} lists them. {@code -Dstrata.guards.search=n} looks for a seed below n for
 * each that has none, and prints it.
 */
final class GuardsTest {

  private static final String PACKAGE = "io.strata.kafka.segment";
  private static final int WARM_UPS = 10;
  private static final int SEEDS = Integer.getInteger("strata.guards.seeds", 50);

  private static void play(String play, long seed, Map<String, byte[]> changed) throws Exception {
    Class<?> made = new TurnsLoader(PACKAGE, changed).loadClass(PACKAGE + "." + play);
    // What it finds does not count: that classes are initialised takes steps, too.
    for (long warm = 0; warm < WARM_UPS; warm++) {
      Throwable unused = failure(made, warm);
    }
    play(made, seed);
  }

  private static @Nullable Throwable failure(Class<?> play, long seed) {
    try {
      play(play, seed);
      return null;
    } catch (AssertionError | Exception e) {
      return e;
    }
  }

  private static void play(Class<?> play, long seed) throws Exception {
    Turns.play((Play) play.getConstructor(long.class).newInstance(seed), seed);
  }

  static List<Guards> guards() throws IOException {
    return Guards.all();
  }

  @ParameterizedTest
  @ValueSource(strings = {"GatePlay", "SegmentPlay"})
  void withAllGuardsNothingGoesWrong(String play) throws Exception {
    Class<?> made = new TurnsLoader(PACKAGE, Map.of()).loadClass(PACKAGE + "." + play);
    for (long seed = 0; seed < SEEDS; seed++) {
      play(made, seed);
    }
  }

  @ParameterizedTest
  @MethodSource("guards")
  void aMissingGuardIsNoticed(Guards guard) throws Exception {
    assertThat(guard.found()).as("how often guards.txt's text is in %s", guard.file()).isEqualTo(1);
    if (guard.play().isEmpty()) {
      assertThat(guard.reason()).isNotBlank();
      return;
    }
    Guards.Noticed noticed = guard.play().get();
    play(noticed.play(), noticed.seed(), Map.of());
    Map<String, byte[]> without = SourceCompiler.compile(guard.className(), guard.sourceWithout());
    Throwable found = null;
    try {
      play(noticed.play(), noticed.seed(), without);
    } catch (AssertionError | Exception e) {
      found = e;
    }
    assertThat(found).as("seed %s without: %s", noticed.seed(), guard.with()).isNotNull();
  }

  @Test
  @EnabledIfSystemProperty(named = "strata.guards.search", matches = "[0-9]+")
  void search() throws Exception {
    for (Guards guard : Guards.all()) {
      boolean wanted = guard.name().contains(System.getProperty("strata.guards.name", ""));
      if (wanted && guard.play().isPresent() && guard.play().get().seed() < 0) {
        OptionalLong seed = search(guard, guard.play().get().play());
        System.out.println(guard.name() + " | " + seed);
      }
    }
  }

  private static OptionalLong search(Guards guard, String play) throws Exception {
    Map<String, byte[]> without = SourceCompiler.compile(guard.className(), guard.sourceWithout());
    Class<?> made = new TurnsLoader(PACKAGE, without).loadClass(PACKAGE + "." + play);
    for (long seed = 0; seed < Long.getLong("strata.guards.search", 0); seed++) {
      try {
        play(made, seed);
      } catch (AssertionError | Exception e) {
        System.out.println(guard.name() + ": " + e.getMessage());
        return OptionalLong.of(seed);
      }
    }
    return OptionalLong.empty();
  }
}
