package io.strata.kafka.fuzz;

import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Every input that was ever saved does no harm, and neither do some thousands that a seeded mutator
 * makes of them: {@code -Dstrata.fuzz.millis=} for each target, {@code -Dstrata.fuzz.seed=}. {@code
 * integration-tests/fuzz.sh} looks for new ones with a coverage-guided fuzzer.
 */
public abstract class FuzzContract {

  private static final long MILLIS = Long.getLong("strata.fuzz.millis", 1500);
  private static final long SEED = Long.getLong("strata.fuzz.seed", 20_251_120);

  /** So that a slow or busy machine tries enough too. */
  private static final int FEWEST = 200;

  /** What is tested. */
  protected abstract List<FuzzTarget> targets();

  @TestFactory
  Stream<DynamicTest> savedInputs() {
    return targets().stream()
        .map(target -> dynamicTest(target.name(), () -> Corpus.of(target).forEach(replay(target))));
  }

  private static java.util.function.Consumer<byte[]> replay(FuzzTarget target) {
    return input -> run(target, input, "a saved input");
  }

  @TestFactory
  Stream<DynamicTest> mutatedInputs() {
    return targets().stream().map(target -> dynamicTest(target.name(), () -> mutate(target)));
  }

  private static void mutate(FuzzTarget target) throws Exception {
    Mutator mutator = new Mutator(new Random(SEED), Corpus.of(target), target);
    long end = System.nanoTime() + MILLIS * 1_000_000;
    for (long i = 0; i < FEWEST || System.nanoTime() < end; i++) {
      run(target, mutator.next(), "input " + i + " of -Dstrata.fuzz.seed=" + SEED);
    }
  }

  private static void run(FuzzTarget target, byte[] input, String which) {
    try {
      Watch.run(target, input);
    } catch (Throwable e) {
      throw new AssertionError(
          target.name()
              + ", "
              + which
              + ", in base64: "
              + Base64.getEncoder().encodeToString(input)
              + "\n"
              + e,
          e);
    }
  }
}
