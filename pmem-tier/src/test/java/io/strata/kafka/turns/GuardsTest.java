package io.strata.kafka.turns;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.OptionalLong;
import java.util.stream.Stream;
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

  private static final int REPEATED = Integer.getInteger("strata.guards.repeated", 3);
  private static final int SEEDS = Integer.getInteger("strata.guards.seeds", 50);

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
    Class<?> made = Plays.WHOLE.load(play);
    for (long seed = 0; seed < SEEDS; seed++) {
      long unused = Plays.play(made, seed);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"segment/SegmentPlay", "pool/SlotPlay", "tier/TierPlay"})
  void aPlayIsRepeatedFromItsSeed(String play) throws Exception {
    Class<?> once = Plays.WHOLE.load(play);
    Class<?> again = Plays.WHOLE.load(play);
    for (long seed = 0; seed < REPEATED; seed++) {
      long expected = Plays.play(once, seed);
      assertThat(Plays.play(again, seed)).as("the steps of seed %d", seed).isEqualTo(expected);
    }
  }

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
    Plays without = Plays.without(guard);
    OptionalLong seed = without.notice(noticed.play(), noticed.seed());
    assertThat(seed).as("the seed that notices without: %s", guard.changes()).isPresent();
    long unused = Plays.WHOLE.play(noticed.play(), seed.getAsLong());
  }

  @Test
  @EnabledIfSystemProperty(named = "strata.guards.search", matches = "[0-9]+")
  void search() throws Exception {
    for (Guards guard : Guards.all()) {
      boolean wanted = guard.name().contains(System.getProperty("strata.guards.name", ""));
      if (wanted && guard.play().isPresent() && guard.play().get().seed() < 0) {
        OptionalLong seed =
            Plays.without(guard)
                .search(guard.play().get().play(), Long.getLong("strata.guards.search", 0));
        System.out.println(guard.name() + " | " + seed);
      }
    }
  }
}
