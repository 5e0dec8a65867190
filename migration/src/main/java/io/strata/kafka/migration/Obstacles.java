package io.strata.kafka.migration;

/** The moves that must not be tried at present. Thread safety: as the implementation says. */
interface Obstacles {

  /** Nothing stands in the way. */
  Obstacles NONE =
      new Obstacles() {
        @Override
        public boolean waits(long segment) {
          return false;
        }

        @Override
        public int allowance(Target target) {
          return Integer.MAX_VALUE;
        }
      };

  /** Whether a segment waits after a failure. */
  boolean waits(long segment);

  /**
   * How many moves to a target may be under way at once: none while it waits after a failure, one
   * to find out whether it works again, else any number.
   */
  int allowance(Target target);
}
