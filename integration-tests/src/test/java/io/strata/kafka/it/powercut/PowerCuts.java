package io.strata.kafka.it.powercut;

import io.strata.kafka.it.powercut.CutKind.Loss;
import io.strata.kafka.it.powercut.PowerCutChain.Cut;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * Cuts the power of a broker's machine under load, again and again, and counts what is lost. Run by
 * {@code powercut/run.sh}, which says what the arguments are.
 */
final class PowerCuts {

  private final PowerCutGuest guest;
  private final int perChain;
  private final List<Line> lines = new ArrayList<>();

  private PowerCuts(PowerCutGuest guest, int perChain) {
    this.guest = guest;
    this.perChain = perChain;
  }

  /** One cut, and what was wrong with it; empty when nothing was. */
  private record Line(CutKind kind, long seed, Cut cut, String problem) {
    long lost() {
      return cut.lost();
    }
  }

  /**
   * Arguments: guest folder, folder of the shadow's classes, kinds, cuts, cuts in a chain, seed.
   */
  public static void main(String[] arguments) throws Exception {
    PowerCutGuest guest = new PowerCutGuest(Path.of(arguments[0]), Path.of(arguments[1]));
    List<CutKind> kinds =
        Pattern.compile(",").splitAsStream(arguments[2]).map(CutKind::of).toList();
    int cuts = Integer.parseInt(arguments[3]);
    PowerCuts campaign = new PowerCuts(guest, Integer.parseInt(arguments[4]));
    long seed = Long.parseLong(arguments[5]);
    guest.prepare();
    for (CutKind kind : kinds) {
      campaign.run(kind, cuts, seed);
    }
    System.exit(campaign.report(kinds) ? 0 : 1);
  }

  private void run(CutKind kind, int cuts, long firstSeed) throws InterruptedException {
    long seed = firstSeed;
    for (int done = 0; done < cuts; seed++) {
      done += chain(kind, seed, Math.min(perChain, cuts - done));
    }
  }

  /** Cuts the same machine's power so many times; fewer if one shows a problem. */
  private int chain(CutKind kind, long seed, int cuts) throws InterruptedException {
    // Its disks are removed when it is closed, unless keep() has been called.
    try (PowerCutChain chain = new PowerCutChain(guest, kind, seed)) {
      return chain(kind, seed, cuts, chain);
    }
  }

  private int chain(CutKind kind, long seed, int cuts, PowerCutChain chain)
      throws InterruptedException {
    int done = 0;
    try {
      chain.begin();
      while (done < cuts) {
        done++;
        long started = System.nanoTime();
        Cut cut = chain.cut(done == cuts);
        String problem = kind.loss() == Loss.NONE ? problem(cut) : "";
        add(new Line(kind, seed, cut, problem), done, started);
        if (!problem.isEmpty()) {
          chain.keep();
          return done;
        }
      }
    } catch (IOException | RuntimeException | AssertionError e) {
      chain.keep();
      int at = Math.max(1, done);
      boolean noticed =
          kind == CutKind.SHADOW_FORGETS
              && chain.unfinished().acknowledged() > 0
              && e instanceof AssertionError
              && !isLate(String.valueOf(e.getMessage()));
      String problem = noticed ? "" : String.valueOf(e.getMessage());
      add(new Line(kind, seed, chain.unfinished(), problem), at, System.nanoTime());
      say(kind.label() + ", seed " + seed + ": " + e);
      return at;
    }
    return done;
  }

  /** Says what is wrong with a cut by which nothing may be lost; empty if nothing is. */
  private static String problem(Cut cut) {
    if (cut.lost() > 0) {
      return cut.lost() + " records lost";
    }
    return cut.acknowledged() == 0 ? "no record was acknowledged" : "";
  }

  /** What takes too long shows no lost record: the machine may be slow. */
  private static boolean isLate(String problem) {
    return problem.contains(" within ")
        || problem.contains(" still ran after ")
        || problem.contains(" did not end in time");
  }

  private void add(Line line, int number, long started) {
    lines.add(line);
    say(
        "%-14s seed %d cut %d %-8s acknowledged %7d found %7d lost %6d  %s  %d s%s"
            .formatted(
                line.kind().label(),
                line.seed(),
                number,
                line.cut().layout().name().toLowerCase(Locale.ROOT),
                line.cut().acknowledged(),
                line.cut().found(),
                line.lost(),
                line.cut().recovery(),
                TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - started),
                line.problem().isEmpty() ? "" : "  FAILED"));
    if (!line.problem().isEmpty()) {
      say(
          "  repeat: integration-tests/powercut/run.sh --kinds %s --cuts %d --chain %d --seed %d"
              .formatted(line.kind().label(), number, perChain, line.seed()));
    }
  }

  /** Prints the table; whether everything is as promised. */
  private boolean report(List<CutKind> kinds) {
    boolean good = true;
    say("");
    say("kind            cuts  during start  acknowledged      found       lost  as promised");
    for (CutKind kind : kinds) {
      List<Line> of = lines.stream().filter(line -> line.kind() == kind).toList();
      long lost = of.stream().mapToLong(Line::lost).sum();
      long noticed = of.stream().filter(line -> line.lost() > 0 || line.cut().broken()).count();
      boolean kept =
          of.stream().allMatch(line -> line.problem().isEmpty())
              && (kind.loss() == Loss.NONE || noticed > 0);
      good &= kept;
      say(
          "%-14s %5d %13d %13d %10d %10d  %s"
              .formatted(
                  kind.label(),
                  of.size(),
                  of.stream().mapToInt(line -> line.cut().duringStart()).sum(),
                  of.stream().mapToLong(line -> line.cut().acknowledged()).sum(),
                  of.stream().mapToLong(line -> line.cut().found()).sum(),
                  lost,
                  kept
                      ? kind.loss() == Loss.NONE ? "yes" : "yes: " + noticed + " cuts lost records"
                      : "NO"));
    }
    return good;
  }

  @SuppressWarnings("SystemOut") // a program's output
  static void say(String line) {
    System.out.println(line);
  }
}
