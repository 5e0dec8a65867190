package io.strata.kafka.bench.paired;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.strata.kafka.bench.result.RunResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PairedRunnerTest {
  private final List<String> order = new ArrayList<>();
  private final List<String> progress = new ArrayList<>();
  private final List<String> kept = new ArrayList<>();
  private double loadAverage;

  private Entrant entrant(String label, IntFunction<Entrant.Attempt> attempts) {
    return new Entrant() {
      @Override
      public String label() {
        return label;
      }

      @Override
      public Attempt run(int round) {
        order.add(label + round);
        return attempts.apply(round);
      }
    };
  }

  private static Entrant.Attempt attempt(String label, double others, String... failures) {
    return new Entrant.Attempt(
        new RunResult(
            RunResult.FORMAT,
            "test",
            label,
            "scenario",
            JsonNodeFactory.instance.objectNode(),
            "2026-01-01T00:00:00Z",
            Map.of(),
            List.of(),
            List.of(),
            "",
            List.of(failures)),
        others);
  }

  private PairedRunner.Outcome run(int rounds, Entrant... entrants) throws Exception {
    MachineLoad load =
        new MachineLoad() {
          @Override
          public double average() {
            return loadAverage;
          }

          @Override
          public double busySeconds() {
            return 0;
          }

          @Override
          public double endedSeconds() {
            return 0;
          }
        };
    return new PairedRunner(
            List.of(entrants),
            new PairedRules(rounds, 2, Duration.ZERO, 0.5),
            load,
            progress::add,
            (place, round, result) -> kept.add("%d-%s-%d".formatted(place, result.label(), round)))
        .run();
  }

  @Test
  void whoRunsFirstRotates() throws Exception {
    PairedRunner.Outcome outcome =
        run(
            3,
            entrant("a", round -> attempt("a", 0)),
            entrant("b", round -> attempt("b", 0)),
            entrant("c", round -> attempt("c", 0)));

    assertThat(order).containsExactly("a1", "b1", "c1", "b2", "c2", "a2", "c3", "a3", "b3");
    assertThat(outcome.isComplete()).isTrue();
    assertThat(outcome.results().stream().map(RunResult::label))
        .containsExactly("a", "a", "a", "b", "b", "b", "c", "c", "c");
  }

  @Test
  void whatARoundMeasuredIsKeptBeforeTheNextBegins() throws Exception {
    List<Integer> before = new ArrayList<>();

    run(
        2,
        entrant(
            "a",
            round -> {
              before.add(kept.size());
              return attempt("a", 0);
            }),
        entrant("b", round -> attempt("b", 0)));

    assertThat(before).containsExactly(0, 2);
    assertThat(kept).containsExactly("1-a-1", "2-b-1", "2-b-2", "1-a-2");
  }

  /** For all of them: pairs stay pairs. */
  @Test
  void aRoundInWhichTheMachineDidOtherWorkIsDiscarded() throws Exception {
    PairedRunner.Outcome outcome =
        run(
            2,
            entrant("a", round -> attempt("a", 0)),
            entrant("b", round -> attempt("b", round == 1 ? 0.75 : 0.25)));

    assertThat(outcome.isComplete()).isTrue();
    assertThat(outcome.results()).hasSize(4);
    List<String> rounds = outcome.results().stream().map(RunResult::round).toList();
    assertThat(rounds.subList(0, 2)).isEqualTo(rounds.subList(2, 4)).doesNotHaveDuplicates();
    assertThat(outcome.discarded())
        .containsExactly("round 1: other programs used 0.75 processors, 0.50 at most");
    assertThat(order).hasSize(6);
    assertThat(kept).hasSize(4).noneMatch(name -> name.endsWith("-1"));
  }

  @Test
  void noRoundBeginsOnABusyMachine() throws Exception {
    loadAverage = 2.5;

    PairedRunner.Outcome outcome = run(2, entrant("a", round -> attempt("a", 0)));

    assertThat(order).isEmpty();
    assertThat(outcome.isComplete()).isFalse();
    assertThat(outcome.discarded())
        .hasSize(6)
        .contains("round 1: the load average was 2.50, 2.00 at most");
  }

  @Test
  void aFailureEndsItAndIsShown() throws Exception {
    PairedRunner.Outcome outcome =
        run(
            5,
            entrant("a", round -> attempt("a", 0)),
            entrant("b", round -> round == 2 ? attempt("b", 0, "disk full") : attempt("b", 0)));

    assertThat(order).containsExactly("a1", "b1", "b2");
    assertThat(outcome.isComplete()).isFalse();
    assertThat(outcome.results().get(2).failures()).containsExactly("disk full");
    assertThat(kept).containsExactly("1-a-1", "2-b-1", "2-b-2");
  }

  @Test
  void readsLinuxsLoad(@TempDir Path proc) throws IOException {
    Files.writeString(proc.resolve("loadavg"), "1.25 0.99 0.50 2/300 12345\n");
    Files.writeString(
        proc.resolve("stat"), "cpu  100 20 30 5000 600 7 8 35 99 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n");
    Files.writeString(
        Files.createDirectory(proc.resolve("self")).resolve("stat"),
        "7 (a) (b) S 1 7 7 0 -1 4194560 900 800 0 0 11 12 250 75 20 0 1 0 5\n");

    MachineLoad load = MachineLoad.of(proc);

    assertThat(load.average()).isEqualTo(1.25);
    assertThat(load.busySeconds()).isEqualTo(2.0);
    assertThat(load.endedSeconds()).isEqualTo(3.25);
  }
}
