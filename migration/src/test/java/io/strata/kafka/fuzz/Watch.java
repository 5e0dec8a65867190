package io.strata.kafka.fuzz;

import java.lang.management.ManagementFactory;

/** Runs inputs and sees to it that none takes unreasonable time or memory. Stateless. */
final class Watch {

  /** Generous: a machine may be busy. What hangs takes for ever. */
  private static final long MOST_NANOS = 20_000_000_000L;

  private Watch() {}

  static void run(FuzzTarget target, byte[] input) throws Exception {
    run(target, input, target.mostAllocated());
  }

  /** With another limit: what instruments classes as they are loaded allocates too. */
  static void run(FuzzTarget target, byte[] input, long mostAllocated) throws Exception {
    long allocatedBefore = allocated();
    long before = System.nanoTime();
    target.run(input.clone());
    long nanos = System.nanoTime() - before;
    long bytes = allocated() - allocatedBefore;
    if (nanos > MOST_NANOS) {
      throw new AssertionError(target.name() + ": " + nanos / 1_000_000 + " ms for one input");
    }
    if (bytes > mostAllocated) {
      throw new AssertionError(
          target.name()
              + ": allocated "
              + bytes
              + " bytes for an input of "
              + input.length
              + ", expected "
              + mostAllocated
              + " at most");
    }
  }

  private static long allocated() {
    return ManagementFactory.getThreadMXBean() instanceof com.sun.management.ThreadMXBean threads
        ? threads.getCurrentThreadAllocatedBytes()
        : 0;
  }
}
