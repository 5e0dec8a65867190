package io.strata.kafka.cli;

import io.strata.kafka.metrics.EventCounters;
import io.strata.kafka.metrics.LocalFigures;
import io.strata.kafka.metrics.RemoteFigures;
import io.strata.kafka.metrics.StrataMetrics;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A JVM that has a broker's status to show, and a file locked if one is named; ends when its
 * standard input does.
 */
public final class StatusMain {
  private static final double BYTES_PER_NANO = 10 * (1 << 20) / 1e9;

  private StatusMain() {}

  /** Publishes, says so, and waits. */
  public static void main(String[] args) throws IOException {
    String what = args.length == 0 ? "local" : args[0];
    Path lock = args.length > 1 ? Path.of(args[1]) : Files.createTempFile("status", ".lock");
    lock.toFile().deleteOnExit();
    try (StrataMetrics metrics = new StrataMetrics(List::of);
        FileChannel channel = FileChannel.open(lock, StandardOpenOption.WRITE)) {
      FileLock unused = channel.lock();
      if (what.equals("remote") || what.equals("both")) {
        metrics.remote(
            "8", RemoteFigures::some, () -> Map.of("rsm.config.migration.rate.down", "0"));
      }
      if (what.equals("local") || what.equals("both") || what.equals("slow")) {
        EventCounters counters = new EventCounters();
        long start = System.nanoTime();
        metrics.local(
            "7",
            // Copies down 10 MiB each second.
            () -> {
              if (what.equals("slow")) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
              }
              return LocalFigures.some(
                  counters, (long) ((System.nanoTime() - start) * BYTES_PER_NANO));
            },
            () -> Map.of("strata.migration.mode", "eager", "strata.migration.threads", "2"));
      }
      System.out.println("ready");
      int end = System.in.read();
      assert end < 0;
    }
  }
}
