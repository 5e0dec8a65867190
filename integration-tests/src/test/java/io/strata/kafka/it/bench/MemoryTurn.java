package io.strata.kafka.it.bench;

import io.strata.kafka.memory.MemoryType;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Locale;

/**
 * One turn of {@code bench.sh turns}: {@link MemoryBench#append} in this JVM, by the processor time
 * of its thread, which is not that of other programs on the machine.
 */
final class MemoryTurn {
  private static final int ROUNDS = 60;

  private MemoryTurn() {}

  /**
   * Prints the median of the rounds in ms.
   *
   * @param args the directory, a memory type, and the bytes of an append
   */
  public static void main(String[] args) throws Exception {
    MemoryBench bench = new MemoryBench();
    bench.directory = args[0];
    bench.type = MemoryType.valueOf(args[1].toUpperCase(Locale.ROOT));
    bench.length = Integer.parseInt(args[2]);
    bench.open();
    long[] nanos = new long[ROUNDS];
    try {
      ThreadMXBean threads = ManagementFactory.getThreadMXBean();
      for (int round = -ROUNDS; round < ROUNDS; round++) {
        long start = threads.getCurrentThreadCpuTime();
        long unused = bench.append();
        if (round >= 0) {
          nanos[round] = threads.getCurrentThreadCpuTime() - start;
        }
      }
    } finally {
      bench.close();
    }
    Arrays.sort(nanos);
    System.out.printf(Locale.ROOT, "%.3f%n", nanos[ROUNDS / 2] / 1e6);
  }
}
