package io.strata.kafka.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.cli.MarkdownPage;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Holds the table of transitions in docs/design/moves.md against what a crash leaves of each. */
final class TransitionsTest {

  private static final Setup ONE_SMALL = Setup.ALL.get(0).with(Setup.PoolSize.SMALL);
  private static final Setup TWO_TIERS = Setup.ALL.get(1);
  private static final int LOG_FILE = 2;
  private static final int FIRST_EXTENT = 64 << 10;
  private static final int COLUMNS = 7;
  private static final int PIECE = 10_000;

  /** Brings a segment into the state from which the transition begins, and does it. */
  private interface Scenario {
    List<Witness.Seen> run() throws IOException, InterruptedException;
  }

  private static final Map<String, Scenario> SCENARIOS = new LinkedHashMap<>();

  static {
    SCENARIOS.put("open", TransitionsTest::open);
    SCENARIOS.put("append", TransitionsTest::append);
    SCENARIOS.put("destage", TransitionsTest::destage);
    SCENARIOS.put("evict", TransitionsTest::evict);
    SCENARIOS.put("close", TransitionsTest::close);
    SCENARIOS.put("let go", TransitionsTest::letGo);
    SCENARIOS.put("spill", TransitionsTest::spill);
    SCENARIOS.put("unspill", () -> unspill(true));
    SCENARIOS.put("unspill, without a slot", () -> unspill(false));
    SCENARIOS.put("relocate", TransitionsTest::relocate);
    SCENARIOS.put("promote", TransitionsTest::promote);
    SCENARIOS.put("truncate, dirty bytes", TransitionsTest::truncateDirty);
    SCENARIOS.put("truncate, clean bytes", TransitionsTest::truncateClean);
    SCENARIOS.put("truncate, evicted bytes", TransitionsTest::truncateEvicted);
    SCENARIOS.put("truncate, spilled bytes", TransitionsTest::truncateSpilled);
    SCENARIOS.put("truncate, all spilled bytes", TransitionsTest::truncateAllSpilled);
    SCENARIOS.put("delete", TransitionsTest::delete);
  }

  private static Expected begun(Witness witness) throws IOException {
    Expected segment = witness.world.create("orders-0");
    append(witness, segment);
    witness.world.background().runAll();
    return segment;
  }

  private static void append(Witness witness, Expected segment) throws IOException {
    append(witness, segment, PIECE);
  }

  private static void append(Witness witness, Expected segment, int length) throws IOException {
    int size = segment.content.length;
    witness.world.append(segment, SimBatches.of(length, size + segment.offset));
  }

  /** Some bytes clean, and some dirty. */
  private static Expected halfClean(Witness witness) throws IOException, InterruptedException {
    Expected segment = begun(witness);
    for (int i = 0; i < 7; i++) {
      append(witness, segment);
    }
    witness.destage(segment, LOG_FILE);
    witness.name("c", segment.content.length);
    for (int i = 0; i < 4; i++) {
      append(witness, segment);
    }
    witness.name("n", segment.content.length);
    witness.name("s", FIRST_EXTENT);
    return segment;
  }

  private static void seal(Witness witness) throws IOException {
    Expected newer = witness.world.create("orders-0");
    append(witness, newer, 100);
    witness.world.background().runAll();
  }

  private static List<Witness.Seen> open() throws IOException {
    Witness witness = new Witness(TWO_TIERS);
    witness.begin(1);
    Expected unused = witness.world.create("orders-0");
    witness.world.background().runAll();
    return witness.end();
  }

  private static List<Witness.Seen> append() throws IOException, InterruptedException {
    Witness witness = new Witness(TWO_TIERS);
    Expected segment = halfClean(witness);
    witness.begin(segment.offset);
    append(witness, segment);
    witness.name("m", segment.content.length);
    return witness.end();
  }

  private static List<Witness.Seen> destage() throws IOException, InterruptedException {
    Witness witness = new Witness(TWO_TIERS);
    Expected segment = halfClean(witness);
    witness.begin(segment.offset);
    witness.destage(segment, LOG_FILE);
    return witness.end();
  }

  private static List<Witness.Seen> evict() throws IOException, InterruptedException {
    Witness witness = new Witness(TWO_TIERS);
    Expected segment = halfClean(witness);
    witness.begin(segment.offset);
    witness.evict(segment);
    return witness.end();
  }

  private static List<Witness.Seen> close() throws IOException, InterruptedException {
    Witness witness = new Witness(TWO_TIERS);
    Expected segment = halfClean(witness);
    witness.evict(segment);
    witness.destage(segment, LOG_FILE);
    seal(witness);
    witness.begin(segment.offset);
    witness.evict(segment);
    return witness.end();
  }

  private static List<Witness.Seen> letGo() throws IOException {
    Witness witness = new Witness(TWO_TIERS);
    Expected segment = witness.world.create("orders-0");
    witness.world.background().runAll();
    witness.begin(segment.offset);
    witness.world.openTier().letGo(witness.view(segment).id());
    return witness.end();
  }

  /** Another partition takes all that is free in the pool. */
  private static Expected fill(Witness witness) throws IOException {
    Expected other = witness.world.create("others-0");
    while (!witness.view(other).spilled()) {
      append(witness, other, 58_000);
    }
    witness.world.background().runAll();
    return other;
  }

  /** Fills its extent, but for some hundred bytes. */
  private static void fillExtent(Witness witness, Expected segment) throws IOException {
    append(witness, segment, FIRST_EXTENT - segment.content.length - 600);
    witness.name("n", segment.content.length);
    witness.name("e", FIRST_EXTENT);
  }

  private static List<Witness.Seen> spill() throws IOException {
    Witness witness = new Witness(ONE_SMALL);
    Expected segment = begun(witness);
    Expected unused = fill(witness);
    fillExtent(witness, segment);
    witness.begin(segment.offset);
    append(witness, segment);
    witness.name("m", segment.content.length);
    return witness.end();
  }

  private static List<Witness.Seen> unspill(boolean hasSlot)
      throws IOException, InterruptedException {
    Witness witness = new Witness(ONE_SMALL);
    Expected segment;
    Expected other;
    if (hasSlot) {
      segment = begun(witness);
      other = fill(witness);
      fillExtent(witness, segment);
      append(witness, segment);
    } else {
      other = fill(witness);
      segment = begun(witness);
    }
    witness.name("m", segment.content.length);
    witness.world.truncate(other, 0);
    witness.world.background().runAll();
    AtomicLong forces = new AtomicLong();
    witness.begin(
        segment.offset,
        point -> {
          if (point == Point.FILE_FORCE && forces.incrementAndGet() == 3) {
            try {
              append(witness, segment, 3_000);
              witness.name("k", segment.content.length);
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          }
          return true;
        });
    Witness.done(
        witness
            .world
            .openTier()
            .segments()
            .goOn(witness.view(segment).id(), 0, MoveControl.UNLIMITED));
    return witness.end();
  }

  private static List<Witness.Seen> relocate() throws IOException, InterruptedException {
    Witness witness = new Witness(TWO_TIERS);
    Expected segment = halfClean(witness);
    seal(witness);
    witness.begin(segment.offset);
    witness.destage(segment, 1);
    return witness.end();
  }

  private static List<Witness.Seen> promote() throws IOException, InterruptedException {
    Witness witness = new Witness(TWO_TIERS);
    Expected segment = halfClean(witness);
    witness.destage(segment, LOG_FILE);
    seal(witness);
    witness.evict(segment);
    witness.begin(segment.offset);
    Witness.done(
        witness
            .world
            .openTier()
            .segments()
            .promote(witness.view(segment).id(), 0, MoveControl.UNLIMITED));
    return witness.end();
  }

  private static List<Witness.Seen> truncate(Witness witness, Expected segment, int most)
      throws IOException {
    int length = SimBatches.boundary(segment.content, most);
    witness.name("t", length);
    witness.begin(segment.offset);
    witness.world.truncate(segment, length);
    return witness.end();
  }

  private static List<Witness.Seen> truncateDirty() throws IOException, InterruptedException {
    Witness witness = new Witness(TWO_TIERS);
    Expected segment = halfClean(witness);
    return truncate(witness, segment, segment.content.length - 1);
  }

  private static List<Witness.Seen> truncateClean() throws IOException, InterruptedException {
    Witness witness = new Witness(TWO_TIERS);
    Expected segment = halfClean(witness);
    witness.evict(segment);
    return truncate(witness, segment, 80_000);
  }

  private static List<Witness.Seen> truncateEvicted() throws IOException, InterruptedException {
    Witness witness = new Witness(TWO_TIERS);
    Expected segment = halfClean(witness);
    witness.evict(segment);
    return truncate(witness, segment, 40_000);
  }

  private static Expected spilled(Witness witness) throws IOException {
    Expected segment = begun(witness);
    Expected unused = fill(witness);
    fillExtent(witness, segment);
    append(witness, segment);
    append(witness, segment);
    witness.name("m", segment.content.length);
    return segment;
  }

  private static List<Witness.Seen> truncateSpilled() throws IOException {
    Witness witness = new Witness(ONE_SMALL);
    Expected segment = spilled(witness);
    return truncate(witness, segment, segment.content.length - 1);
  }

  private static List<Witness.Seen> truncateAllSpilled() throws IOException {
    Witness witness = new Witness(ONE_SMALL);
    Expected segment = spilled(witness);
    return truncate(witness, segment, 40_000);
  }

  private static List<Witness.Seen> delete() throws IOException, InterruptedException {
    Witness witness = new Witness(TWO_TIERS);
    Expected segment = halfClean(witness);
    witness.begin(segment.offset);
    witness.world.delete(segment);
    witness.world.closeChannel(segment);
    witness.world.background().runAll();
    return witness.end();
  }

  private static final String HEADING = "Transitions";

  /** A row of the table. */
  private record Row(String step, Witness.State state, String afterStart) {}

  private static Map<String, List<Row>> table() {
    Map<String, List<Row>> table = new LinkedHashMap<>();
    String transition = "";
    Path page = MarkdownPage.root().resolve("docs/design/moves.md");
    for (List<String> cells : MarkdownPage.read(page).rowsBelow(HEADING)) {
      if (cells.size() == COLUMNS) {
        transition = cells.get(0).isEmpty() ? transition : cells.get(0);
        table
            .computeIfAbsent(transition, name -> new ArrayList<>())
            .add(
                new Row(
                    cells.get(1),
                    new Witness.State(cells.get(2), cells.get(3), cells.get(4), cells.get(5)),
                    cells.get(6)));
      }
    }
    return table;
  }

  static Stream<String> transitions() {
    return SCENARIOS.keySet().stream();
  }

  @Test
  void tableAndTestHaveTheSameTransitions() {
    assertThat(table().keySet()).containsExactlyElementsOf(SCENARIOS.keySet());
  }

  @ParameterizedTest
  @MethodSource("transitions")
  void eachStepLeavesWhatTheTableSays(String transition) throws Exception {
    List<Row> rows = Objects.requireNonNull(table().get(transition), transition);
    List<Witness.Seen> seen = Objects.requireNonNull(SCENARIOS.get(transition)).run();
    assertThat(rows.stream().map(Row::state))
        .containsExactlyElementsOf(seen.stream().map(Witness.Seen::state).toList());
    Set<Witness.State> soFar = new HashSet<>();
    for (int i = 0; i < rows.size(); i++) {
      Witness.State expected = afterStart(rows, i);
      assertThat(seen.get(i).afterKill()).as(rows.get(i).toString()).isEqualTo(expected);
      soFar.add(expected);
      assertThat(soFar).as(rows.get(i).toString()).containsAll(seen.get(i).afterPowerCut());
    }
  }

  private static Witness.State afterStart(List<Row> rows, int row) {
    String cell = rows.get(row).afterStart();
    return switch (cell) {
      case "as before" -> rows.get(0).state();
      case "as it is" -> rows.get(row).state();
      case "done" -> rows.get(rows.size() - 1).state();
      default -> {
        String[] parts = cell.split("; ", -1);
        assertThat(parts).as(cell).hasSize(3);
        yield new Witness.State(parts[0], "none", parts[1], parts[2]);
      }
    };
  }
}
