package io.strata.kafka.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.crash.FailingCall.Failure;
import io.strata.kafka.crash.FailingCall.Lasting;
import io.strata.kafka.crash.FailingCall.Plan;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The n-th call of each kind fails: nothing acknowledged is lost or changed, one failed thing takes
 * one thing down, and after a start without the fault everything works.
 *
 * <p>{@code -Dstrata.failing.seeds=n} runs every call of n seeds, each of another setup, from
 * {@code -Dstrata.failing.first=n} on; {@code -Dstrata.failing.kinds=} chooses kinds of calls by a
 * regular expression. {@code -Dstrata.failing.seed=}, {@code call=}, {@code n=} and {@code how=}
 * repeat one.
 */
final class FailingCallsTest {

  private static final int SEEDS = Integer.getInteger("strata.failing.seeds", 2);

  /** Calls that are tried of each kind in a short run. */
  private static final int FEW = 6;

  private static final String KINDS = System.getProperty("strata.failing.kinds", ".*");

  private static final int FEWEST_CALLS = 500;

  private final Map<Call, Long> tried = new EnumMap<>(Call.class);
  private final List<String> wrong = new ArrayList<>();
  private long runs;
  private long ends;

  @Test
  void someCallsFail() throws IOException {
    // Setups with each kind of pool, with forced appends, and with a pool that spills.
    for (long seed : List.of(0L, 1L, 2L, 3L, 4L, 6L, 9L)) {
      each(seed, FEW);
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  @Tag("long")
  void everyCallFails() throws IOException {
    String one = System.getProperty("strata.failing.call");
    if (one != null) {
      String[] how = System.getProperty("strata.failing.how", "IO,ONCE").split(",", -1);
      long seed = Long.getLong("strata.failing.seed", 0);
      Plan plan =
          new Plan(
              Call.valueOf(one),
              Long.getLong("strata.failing.n", 1),
              Failure.valueOf(how[0]),
              Lasting.valueOf(how[1]));
      assertThat(FailingRun.run(seed, Setup.of(seed), plan)).isPositive();
      return;
    }
    long first = Long.getLong("strata.failing.first", 0);
    for (long seed = first; seed < first + SEEDS; seed++) {
      each(seed, Long.MAX_VALUE);
    }
    assertThat(ends).isPositive();
    if (first == 0 && SEEDS > 4 && KINDS.equals(".*")) {
      assertThat(tried).containsKeys(Call.values());
    }
    assertThat(wrong).isEmpty();
  }

  private void each(long seed, long most) throws IOException {
    Setup setup = Setup.of(seed);
    Map<Call, Long> counts = FailingRun.count(seed, setup);
    assertThat(counts.values().stream().mapToLong(n -> n).sum()).isGreaterThan(FEWEST_CALLS);
    counts.keySet().removeIf(kind -> !kind.name().matches(KINDS));
    for (Map.Entry<Call, Long> kind : counts.entrySet()) {
      long step = Math.max(1, kind.getValue() / most);
      for (long n = 1 + seed % step; n <= kind.getValue(); n += step) {
        run(seed, setup, kind.getKey(), n);
      }
    }
    System.out.printf(
        "failing calls: seed %d, %s, calls %s; so far %d runs, %d ends, tried %s%n",
        seed, setup, counts, runs, ends, tried);
  }

  private void run(long seed, Setup setup, Call call, long n) {
    tried.merge(call, 1L, Long::sum);
    for (Plan plan : FailingCall.turns(call, n, seed)) {
      fail(seed, setup, plan);
    }
  }

  private void fail(long seed, Setup setup, Plan plan) {
    runs++;
    try {
      ends += FailingRun.run(seed, setup, plan);
    } catch (AssertionError e) {
      wrong.add(String.valueOf(e.getMessage()));
    }
  }
}
