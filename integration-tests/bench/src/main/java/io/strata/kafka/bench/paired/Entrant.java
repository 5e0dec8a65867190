package io.strata.kafka.bench.paired;

import io.strata.kafka.bench.result.RunResult;

/** One that takes part in a paired run. */
public interface Entrant {

  /** The label of its results. */
  String label();

  /**
   * Runs the scenario once.
   *
   * @param round from 1
   */
  Attempt run(int round);

  /**
   * A run.
   *
   * @param otherCores processors that other programs of the machine used meanwhile, on average
   */
  record Attempt(RunResult result, double otherCores) {}
}
