package io.strata.kafka.it.faults;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.strata.kafka.it.harness.TestMount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * What a running process may have from now on: file descriptors, threads. Not thread-safe.
 *
 * <p>The limit of a user's processes ({@code ulimit -u}) does not bind root; a control group does.
 */
final class ProcessLimits {

  private ProcessLimits() {}

  /** How many files the process has open. */
  static int openFiles(long pid) throws IOException {
    try (Stream<Path> all = Files.list(Path.of("/proc/" + pid + "/fd"))) {
      return (int) all.count();
    }
  }

  /** Limits its descriptors; those above stay open. */
  static void openFiles(long pid, long limit) throws IOException, InterruptedException {
    TestMount.must("prlimit", "--pid=" + pid, "--nofile=" + limit + ":");
  }

  /** A control group that allows no more threads than the process has now, and so many. */
  static final class Threads implements AutoCloseable {

    private static final Path V1 = Path.of("/sys/fs/cgroup/pids");
    private static final Path V2 = Path.of("/sys/fs/cgroup");

    private final Path group;

    /** Makes it; a test is skipped where that is not allowed. */
    Threads(long pid, int more) {
      group =
          (Files.isDirectory(V1) ? V1 : V2)
              .resolve("strata-threads-" + ProcessHandle.current().pid() + "-" + pid);
      try {
        Files.createDirectory(group);
        Files.writeString(group.resolve("cgroup.procs"), Long.toString(pid), US_ASCII);
        long now = Long.parseLong(Files.readString(group.resolve("pids.current"), US_ASCII).trim());
        Files.writeString(group.resolve("pids.max"), Long.toString(now + more), US_ASCII);
      } catch (IOException e) {
        Assumptions.abort("no control group for threads here: " + e);
      }
    }

    /** As many as it likes. */
    void lift() throws IOException {
      Files.writeString(group.resolve("pids.max"), "max", US_ASCII);
    }

    @Override
    public void close() throws IOException {
      List<String> left = Files.readAllLines(group.resolve("cgroup.procs"), US_ASCII);
      for (String pid : left) {
        Files.writeString(group.resolveSibling("cgroup.procs"), pid, US_ASCII);
      }
      Files.delete(group);
    }
  }
}
