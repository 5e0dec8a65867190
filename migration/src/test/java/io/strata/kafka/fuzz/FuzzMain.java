package io.strata.kafka.fuzz;

/**
 * What the coverage-guided fuzzer calls. The system property {@code strata.fuzz.target} names the
 * class of the target; {@code integration-tests/fuzz.sh} starts it.
 */
public final class FuzzMain {

  private static final FuzzTarget TARGET = target(System.getProperty("strata.fuzz.target", ""));

  private static final long MOST_ALLOCATED = 400L << 20;

  private FuzzMain() {}

  private static FuzzTarget target(String className) {
    try {
      var constructor =
          Class.forName(className).asSubclass(FuzzTarget.class).getDeclaredConstructor();
      constructor.setAccessible(true);
      return constructor.newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("-Dstrata.fuzz.target=" + className, e);
    }
  }

  /** One input. */
  public static void fuzzerTestOneInput(byte[] input) throws Exception {
    Watch.run(TARGET, input, MOST_ALLOCATED);
  }

  /** Writes the target's seeds into a directory, where the fuzzer looks for what to begin from. */
  public static void main(String[] arguments) throws Exception {
    Corpus.writeSeeds(TARGET, java.nio.file.Path.of(arguments[0]));
  }
}
