package io.strata.kafka.lincheck;

import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.StressOptions;

/**
 * The JVM that checks one class: Lincheck rewrites the classes that it watches, and no other test
 * should run on those.
 */
public final class LincheckMain {

  private LincheckMain() {}

  /**
   * Checks a class.
   *
   * @param arguments the class, its sequential specification (or the class again), {@code stress}
   *     or {@code model}, how many scenarios, how often each, threads, operations of a thread
   */
  public static void main(String[] arguments) throws ClassNotFoundException {
    Class<?> tested = Class.forName(arguments[0]);
    Class<?> specification = Class.forName(arguments[1]);
    int scenarios = Integer.parseInt(arguments[3]);
    int times = Integer.parseInt(arguments[4]);
    int threads = Integer.parseInt(arguments[5]);
    int operations = Integer.parseInt(arguments[6]);
    try {
      if (arguments[2].equals("model")) {
        new ModelCheckingOptions()
            .iterations(scenarios)
            .invocationsPerIteration(times)
            .threads(threads)
            .actorsPerThread(operations)
            .actorsBefore(2)
            .actorsAfter(1)
            .sequentialSpecification(specification)
            .check(tested);
      } else {
        new StressOptions()
            .iterations(scenarios)
            .invocationsPerIteration(times)
            .threads(threads)
            .actorsPerThread(operations)
            .actorsBefore(2)
            .actorsAfter(1)
            .sequentialSpecification(specification)
            .check(tested);
      }
    } catch (LincheckAssertionError e) {
      System.err.println(e.getMessage());
      System.exit(1);
    }
    System.exit(0);
  }
}
