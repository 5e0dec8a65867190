package io.strata.kafka.turns;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
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

  private static final String ROOT = "io.strata.kafka.";

  /** By the package of a play, the packages that take turns in it. */
  private static final Map<String, Set<String>> PACKAGES =
      Map.of(
          "pool", Set.of(ROOT + "pool"),
          "segment", Set.of(ROOT + "segment"),
          "tier", Set.of(ROOT + "segment", ROOT + "tier"));

  private static final int WARM_UPS = 10;

  /** A listed seed is for the code as it was: others are tried when that has changed. */
  private static final long MOST_SEEDS = 400;

  private static final int SEEDS = Integer.getInteger("strata.guards.seeds", 50);

  private static void play(String play, long seed, Map<String, byte[]> changed) throws Exception {
    Class<?> made = load(play, changed);
    // What it finds does not count: that classes are initialised takes steps, too.
    for (long warm = 0; warm < WARM_UPS; warm++) {
      Throwable unused = failure(made, warm);
    }
    play(made, seed);
  }

  private static Class<?> load(String play, Map<String, byte[]> changed) throws Exception {
    String name = play.substring(0, play.indexOf('/'));
    Set<String> packages = requireNonNull(PACKAGES.get(name), play);
    return new TurnsLoader(packages, changed).loadClass(ROOT + play.replace('/', '.'));
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

  static Stream<Guards> guards() throws IOException {
    return Guards.all().stream().filter(guard -> !isOfTheTier(guard));
  }

  static Stream<Guards> guardsOfTheTier() throws IOException {
    return Guards.all().stream().filter(GuardsTest::isOfTheTier);
  }

  private static boolean isOfTheTier(Guards guard) {
    return guard.play().filter(noticed -> noticed.play().startsWith("tier/")).isPresent();
  }

  @ParameterizedTest
  @ValueSource(strings = {"segment/GatePlay", "segment/SegmentPlay", "pool/SlotPlay"})
  void withAllGuardsNothingGoesWrong(String play) throws Exception {
    Class<?> made = load(play, Map.of());
    for (long seed = 0; seed < SEEDS; seed++) {
      play(made, seed);
    }
  }

  /** Not every play of the whole tier is repeated exactly: see docs/design/findings.md. */
  @Test
  @Tag("long")
  void withAllGuardsNothingGoesWrongInTheTier() throws Exception {
    withAllGuardsNothingGoesWrong("tier/TierPlay");
  }

  @ParameterizedTest
  @Tag("long")
  @MethodSource("guardsOfTheTier")
  void aMissingGuardOfTheTierIsNoticed(Guards guard) throws Exception {
    aMissingGuardIsNoticed(guard);
  }

  @ParameterizedTest
  @MethodSource("guards")
  void aMissingGuardIsNoticed(Guards guard) throws Exception {
    assertThat(guard.notFound())
        .as("texts that are not in %s exactly once", guard.file())
        .isEmpty();
    if (guard.play().isEmpty()) {
      assertThat(guard.reason()).isNotBlank();
      return;
    }
    Guards.Noticed noticed = guard.play().get();
    Map<String, byte[]> without = SourceCompiler.compile(guard.className(), guard.sourceWithout());
    OptionalLong seed =
        isNoticed(noticed.play(), noticed.seed(), without)
            ? OptionalLong.of(noticed.seed())
            : search(noticed.play(), without, MOST_SEEDS);
    assertThat(seed).as("the seed that notices without: %s", guard.changes()).isPresent();
    play(noticed.play(), seed.getAsLong(), Map.of());
  }

  private static boolean isNoticed(String play, long seed, Map<String, byte[]> without)
      throws Exception {
    try {
      play(play, seed, without);
      return false;
    } catch (AssertionError | Exception e) {
      return true;
    }
  }

  @Test
  @EnabledIfSystemProperty(named = "strata.guards.search", matches = "[0-9]+")
  void search() throws Exception {
    for (Guards guard : Guards.all()) {
      boolean wanted = guard.name().contains(System.getProperty("strata.guards.name", ""));
      if (wanted && guard.play().isPresent() && guard.play().get().seed() < 0) {
        Map<String, byte[]> without =
            SourceCompiler.compile(guard.className(), guard.sourceWithout());
        OptionalLong seed =
            search(guard.play().get().play(), without, Long.getLong("strata.guards.search", 0));
        System.out.println(guard.name() + " | " + seed);
      }
    }
  }

  private static OptionalLong search(String play, Map<String, byte[]> without, long most)
      throws Exception {
    Class<?> made = load(play, without);
    for (long seed = 0; seed < most; seed++) {
      if (failure(made, seed) != null) {
        return OptionalLong.of(seed);
      }
    }
    return OptionalLong.empty();
  }
}
