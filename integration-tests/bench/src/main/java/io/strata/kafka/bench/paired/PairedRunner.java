package io.strata.kafka.bench.paired;

import io.strata.kafka.bench.result.RunResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Lets entrants take turns. In each round all run once, and who runs first rotates. A round during
 * which the machine did other work is discarded, for all of them, and made up for. The first
 * failure ends it.
 */
public final class PairedRunner {
  private static final long LOOK_MILLIS = 1000;

  private final List<Entrant> entrants;
  private final PairedRules rules;
  private final MachineLoad load;
  private final Consumer<String> progress;
  private final Keeper keeper;

  /** Tells the rounds of this session from those of others, which are counted from 1, too. */
  private final String session = UUID.randomUUID().toString();

  private final List<RunResult> results = new ArrayList<>();
  private final List<String> discarded = new ArrayList<>();

  /**
   * Creates a runner.
   *
   * @param entrants in the order of the first round; results are compared with the first's
   * @param progress hears what is done
   * @param keeper gets the results of a round that counts, and of a failed one, when it has ended
   */
  public PairedRunner(
      List<Entrant> entrants,
      PairedRules rules,
      MachineLoad load,
      Consumer<String> progress,
      Keeper keeper) {
    this.entrants = List.copyOf(entrants);
    this.rules = rules;
    this.load = load;
    this.progress = progress;
    this.keeper = keeper;
  }

  /** Keeps results as they come: a program that is stopped early has what it measured. */
  @FunctionalInterface
  public interface Keeper {
    /**
     * Keeps a result.
     *
     * @param place of its entrant among the entrants, from 1
     */
    void keep(int place, int round, RunResult result) throws IOException;
  }

  /**
   * The outcome.
   *
   * @param results of the rounds that count, and of one that failed
   * @param discarded why rounds were discarded
   * @param isComplete whether there are as many rounds as there should be
   */
  public record Outcome(List<RunResult> results, List<String> discarded, boolean isComplete) {}

  /** Runs until there are enough rounds. */
  public Outcome run() throws IOException, InterruptedException {
    int counted = 0;
    for (int round = 1; counted < rules.rounds() && round <= rules.mostRounds(); round++) {
      if (!isQuiet(round)) {
        continue;
      }
      List<RunResult> own = new ArrayList<>();
      double others = 0;
      for (Entrant entrant : rotated(round)) {
        progress.accept("round %d: %s".formatted(round, entrant.label()));
        Entrant.Attempt attempt = entrant.run(round);
        own.add(attempt.result().ofRound("%s/%d".formatted(session, round)));
        if (!attempt.result().hasSucceeded()) {
          keep(round, own);
          return outcome(false);
        }
        others = Math.max(others, attempt.otherCores());
      }
      if (others > rules.mostOtherCores()) {
        discard(
            round,
            "other programs used %.2f processors, %.2f at most",
            others,
            rules.mostOtherCores());
      } else {
        keep(round, own);
        counted++;
      }
    }
    return outcome(counted == rules.rounds());
  }

  private void keep(int round, List<RunResult> own) throws IOException {
    results.addAll(own);
    List<String> labels = entrants.stream().map(Entrant::label).toList();
    for (RunResult result : own) {
      keeper.keep(labels.indexOf(result.label()) + 1, round, result);
    }
  }

  private boolean isQuiet(int round) throws IOException, InterruptedException {
    long end = System.nanoTime() + rules.settle().toNanos();
    while (load.average() > rules.mostLoad()) {
      if (System.nanoTime() >= end) {
        discard(round, "the load average was %.2f, %.2f at most", load.average(), rules.mostLoad());
        return false;
      }
      TimeUnit.MILLISECONDS.sleep(Math.min(LOOK_MILLIS, rules.settle().toMillis()));
    }
    return true;
  }

  private void discard(int round, String why, double found, double most) {
    String text = "round %d: %s".formatted(round, String.format(Locale.ROOT, why, found, most));
    discarded.add(text);
    progress.accept("discarded: " + text);
  }

  private List<Entrant> rotated(int round) {
    List<Entrant> order = new ArrayList<>();
    for (int i = 0; i < entrants.size(); i++) {
      order.add(entrants.get((i + round - 1) % entrants.size()));
    }
    return order;
  }

  private Outcome outcome(boolean complete) {
    // The first entrant's results come first: it is what the others are compared with.
    List<RunResult> sorted = new ArrayList<>();
    for (Entrant entrant : entrants) {
      results.stream().filter(r -> r.label().equals(entrant.label())).forEach(sorted::add);
    }
    return new Outcome(List.copyOf(sorted), List.copyOf(discarded), complete);
  }
}
