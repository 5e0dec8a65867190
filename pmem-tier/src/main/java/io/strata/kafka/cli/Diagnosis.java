package io.strata.kafka.cli;

/**
 * One thing that {@code strata doctor} looked at.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param verdict how it is
 * @param what the thing
 * @param found what was found
 * @param remedy what to do about it; empty if nothing
 */
record Diagnosis(Verdict verdict, String what, String found, String remedy) {

  /** How a thing is. */
  enum Verdict {
    /** As it should be. */
    OK,
    /** The broker starts, and the operator should know. */
    WARN,
    /** The broker refuses to start, or a promise does not hold. */
    FAIL
  }

  static Diagnosis fail(String what, String found, String remedy) {
    return new Diagnosis(Verdict.FAIL, what, found, remedy);
  }
}
