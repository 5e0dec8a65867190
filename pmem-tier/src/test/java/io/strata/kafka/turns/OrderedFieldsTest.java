package io.strata.kafka.turns;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each volatile field and each atomic is taken for less than it is, and a play finds accesses that
 * nothing orders.
 *
 * <p>{@code ordered-fields.txt} lists them. {@code -Dstrata.guards.search=n} looks for a play and a
 * seed below n for each that has none, and prints it.
 */
final class OrderedFieldsTest {

  static Stream<OrderedFields.Listed> noticed() throws IOException {
    return OrderedFields.listed().values().stream().filter(each -> each.play().isPresent());
  }

  @Test
  void allAreListed() throws IOException {
    assertThat(OrderedFields.listed().keySet())
        .as("fields in ordered-fields.txt; expected those that the classes have")
        .containsExactlyElementsOf(OrderedFields.found());
    assertThat(OrderedFields.listed().values())
        .as("fields that no play misses what they publish of, and no reason")
        .noneMatch(each -> each.kind() == Turns.PLAIN && each.reason().isBlank());
  }

  @ParameterizedTest
  @Tag("long")
  @MethodSource("noticed")
  void aWeakerOneIsNoticed(OrderedFields.Listed field) throws Exception {
    Guards.Noticed noticed = field.play().orElseThrow();
    OptionalLong seed =
        Plays.weaker("io/strata/kafka/" + field, field.kind())
            .notice(noticed.play(), noticed.seed());
    assertThat(seed).as("the seed that notices").isPresent();
    long unused = Plays.WHOLE.play(noticed.play(), seed.getAsLong());
  }

  @Test
  @EnabledIfSystemProperty(named = "strata.guards.search", matches = "[0-9]+")
  void search() throws Exception {
    for (String field : OrderedFields.found()) {
      boolean wanted = field.contains(System.getProperty("strata.guards.name", ""));
      if (wanted && !OrderedFields.listed().containsKey(field)) {
        System.out.println(field + " | " + search(field));
      }
    }
  }

  private static List<String> playsOf(String field) {
    return switch (field.substring(0, field.indexOf('/'))) {
      case "pool" -> List.of("pool/SlotPlay", "segment/SegmentPlay", "tier/TierPlay");
      case "segment" -> List.of("segment/GatePlay", "segment/SegmentPlay", "tier/TierPlay");
      case "tier" -> List.of("tier/TierPlay");
      default -> List.of();
    };
  }

  private static String search(String field) throws Exception {
    long most = Long.getLong("strata.guards.search", 0);
    for (String play : playsOf(field)) {
      OptionalLong seen = Plays.weaker("io/strata/kafka/" + field, Turns.PLAIN).search(play, most);
      if (seen.isPresent()) {
        OptionalLong published =
            Plays.weaker("io/strata/kafka/" + field, Turns.ALONE).search(play, most);
        return published.isPresent()
            ? "publishes %s %d".formatted(play, published.getAsLong())
            : "seen %s %d | ".formatted(play, seen.getAsLong());
      }
    }
    return "";
  }
}
