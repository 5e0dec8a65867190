package io.strata.kafka.it;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A control group with a limit to a process's memory, page cache included: what a loaded broker's
 * files have left of a machine's memory. Needs root. Not thread-safe.
 */
final class MemoryLimit implements AutoCloseable {

  private static final Path V1 = Path.of("/sys/fs/cgroup/memory");
  private static final Path V2 = Path.of("/sys/fs/cgroup");

  private final Path group;

  private MemoryLimit(Path group) {
    this.group = group;
  }

  /**
   * Makes one.
   *
   * @throws IOException if this machine does not allow it
   */
  static MemoryLimit ofBytes(String name, long bytes) throws IOException {
    boolean first = Files.isDirectory(V1);
    Path group = (first ? V1 : V2).resolve("strata-" + name + "-" + ProcessHandle.current().pid());
    Files.createDirectory(group);
    MemoryLimit limit = new MemoryLimit(group);
    String key = first ? "memory.limit_in_bytes" : "memory.max";
    Files.writeString(group.resolve(key), Long.toString(bytes), US_ASCII);
    return limit;
  }

  /** From now on the process's new pages count. */
  void add(long pid) throws IOException {
    Files.writeString(group.resolve("cgroup.procs"), Long.toString(pid), US_ASCII);
  }

  /** After the processes in it have ended. */
  @Override
  public void close() throws IOException {
    List<String> left = Files.readAllLines(group.resolve("cgroup.procs"), US_ASCII);
    if (!left.isEmpty()) {
      throw new IllegalStateException(group + ": processes " + left + " still run");
    }
    Files.delete(group);
  }
}
