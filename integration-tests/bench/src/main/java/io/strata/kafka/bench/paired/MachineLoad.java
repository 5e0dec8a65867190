package io.strata.kafka.bench.paired;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** How busy this machine is. */
public interface MachineLoad {

  /** Programs that run or wait for a processor, averaged over the last minute. */
  double average() throws IOException;

  /**
   * Seconds that all processors have worked since the machine's start, those stolen from it too.
   */
  double busySeconds() throws IOException;

  /** Seconds of processors that this program's children have used which have ended. */
  double endedSeconds() throws IOException;

  /** Linux's, from the folder proc. */
  static MachineLoad of(Path proc) {
    return new MachineLoad() {
      /**
       * USER_HZ: what the kernel shows to programs is in hundredths on all platforms of the JDK.
       */
      private static final double TICKS = 100;

      private static final int IDLE = 4;
      private static final int IOWAIT = 5;
      private static final int STEAL = 8;

      /** Columns of a process's stat after its name: cutime and cstime. */
      private static final int ENDED_USER = 13;

      private static final int ENDED_SYSTEM = 14;

      @Override
      public double average() throws IOException {
        String text = Files.readString(proc.resolve("loadavg"));
        return Double.parseDouble(text.substring(0, text.indexOf(' ')));
      }

      @Override
      public double busySeconds() throws IOException {
        List<String> columns =
            List.of(Files.readAllLines(proc.resolve("stat")).get(0).split("\\s+", -1));
        double ticks = 0;
        // Guests' time behind it is in the user's.
        for (int i = 1; i < columns.size() && i <= STEAL; i++) {
          ticks += i == IDLE || i == IOWAIT ? 0 : Double.parseDouble(columns.get(i));
        }
        return ticks / TICKS;
      }

      @Override
      public double endedSeconds() throws IOException {
        String text = Files.readString(proc.resolve("self/stat"));
        // The name is in parentheses, and may have any character in it.
        List<String> columns = List.of(text.substring(text.lastIndexOf(')') + 2).split(" ", -1));
        return (Double.parseDouble(columns.get(ENDED_USER))
                + Double.parseDouble(columns.get(ENDED_SYSTEM)))
            / TICKS;
      }
    };
  }
}
