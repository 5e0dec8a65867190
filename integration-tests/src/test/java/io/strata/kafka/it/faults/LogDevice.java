package io.strata.kafka.it.faults;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.strata.kafka.it.harness.TestMount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/**
 * A block device that is as slow as a test wants it, fails or stands still when a test wants it to,
 * with a file system on it: a file that nbdkit serves through its error and rate filters, that
 * nbdfuse makes a file again, and that a loop device mounts. Needs root, the right to mount, and
 * the packages nbdkit, nbdfuse (in Debian 12 part of libnbd-bin) and fuse3; where one of them is
 * missing the test is skipped, and the reason is in its report. Not thread-safe.
 *
 * <p>The file system has no journal: a failed write of the journal would make it read-only for
 * good, and no test could go on when the device works again.
 */
final class LogDevice implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final Path folder;
  private final Process server;
  private final Process fuse;
  private final String device;
  private final TestMount mounted;

  private LogDevice(Path folder, Process server, Process fuse, String device, TestMount mounted) {
    this.folder = folder;
    this.server = server;
    this.fuse = fuse;
    this.device = device;
    this.mounted = mounted;
  }

  /**
   * Makes one, with an ext4 file system of its size, mounted.
   *
   * @param folder for its files; the device's own bytes too
   * @param bytesPerSecond of all reads together, and of all writes together; 0 for no limit
   */
  static LogDevice ext4(Path folder, int mebibytes, long bytesPerSecond)
      throws IOException, InterruptedException {
    for (String command : List.of("nbdkit", "nbdfuse", "fusermount3", "mkfs.ext4", "losetup")) {
      Assumptions.assumeTrue(
          TestMount.isInstalled(command), command + " is not installed: no slow device");
    }
    Path image = folder.resolve("device");
    Path socket = shortPath(folder.resolve("nbd"));
    Path point = Files.createDirectories(folder.resolve("fuse"));
    TestMount.must("truncate", "-s", mebibytes + "M", image.toString());
    writeRate(folder, bytesPerSecond);
    Process server =
        start(
            folder.resolve("nbdkit.log"),
            "nbdkit",
            "--foreground",
            "--exit-with-parent",
            "--unix",
            socket.toString(),
            "--filter=error",
            "--filter=rate",
            "file",
            image.toString(),
            "error=EIO",
            "error-pwrite-rate=100%",
            "error-pwrite-file=" + trigger(folder),
            "error-pread-rate=100%",
            "error-pread-file=" + readTrigger(folder),
            "rate-file=" + rate(folder),
            "burstiness=0.1");
    await(server, () -> Files.exists(socket), folder, "nbdkit.log");
    Path disk = point.resolve("disk");
    Process fuse =
        start(
            folder.resolve("nbdfuse.log"), "nbdfuse", disk.toString(), "--unix", socket.toString());
    await(fuse, () -> Files.exists(disk), folder, "nbdfuse.log");
    // Without a journal, whose failed write would make the whole file system read only.
    TestMount.must("mkfs.ext4", "-q", "-m", "0", "-O", "^has_journal", disk.toString());
    // Direct I/O: the page cache below the file system would hide how slow the device is.
    String device =
        TestMount.output("losetup", "--find", "--show", "--direct-io=on", disk.toString());
    TestMount mounted = TestMount.device(device, folder.resolve("mount"));
    return new LogDevice(folder, server, fuse, device, mounted);
  }

  /** Where it is mounted. */
  Path path() {
    return mounted.path();
  }

  /** Changes the rate of reads and of writes, from now on; 0 for no limit. */
  void bytesPerSecond(long bytesPerSecond) throws IOException {
    writeRate(folder, bytesPerSecond);
  }

  /** Every write to the device fails from now on. */
  void failWrites() throws IOException {
    Files.createFile(trigger(folder));
  }

  /** Every read of the device fails from now on; what is in the page cache is still read. */
  void failReads() throws IOException {
    Files.createFile(readTrigger(folder));
  }

  /** Reads and writes succeed again. */
  void heal() throws IOException {
    Files.deleteIfExists(trigger(folder));
    Files.deleteIfExists(readTrigger(folder));
  }

  /** Nothing that is asked of the device is answered, until {@link #goOn}. */
  void stall() throws IOException, InterruptedException {
    TestMount.must("kill", "-STOP", Long.toString(server.pid()));
  }

  /** What was asked meanwhile is answered now. */
  void goOn() throws IOException, InterruptedException {
    TestMount.must("kill", "-CONT", Long.toString(server.pid()));
  }

  /** Takes a file's clean pages out of the page cache, so that it is read from the device. */
  static void forgetCached(Path file) throws IOException, InterruptedException {
    TestMount.must("sync", file.toString());
    TestMount.must("dd", "of=" + file, "oflag=nocache", "conv=notrunc", "count=0");
  }

  @Override
  public void close() throws IOException {
    heal();
    writeRate(folder, 0);
    try {
      goOn();
      mounted.unmountNow();
      TestMount.run("losetup", "--detach", device);
      TestMount.run("fusermount3", "-u", folder.resolve("fuse").toString());
      for (Process process : List.of(fuse, server)) {
        process.destroy();
        if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
          process.destroyForcibly();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while unmounting " + mounted.path(), e);
    }
    Files.deleteIfExists(folder.resolve("device"));
  }

  /** A socket's path has 107 characters at most. */
  private static Path shortPath(Path path) throws IOException {
    return path.toString().length() < 100
        ? path
        : Files.createTempDirectory("strata-nbd-").resolve("nbd");
  }

  private static Path trigger(Path folder) {
    return folder.resolve("writes-fail");
  }

  private static Path readTrigger(Path folder) {
    return folder.resolve("reads-fail");
  }

  private static Path rate(Path folder) {
    return folder.resolve("rate");
  }

  /** In bits per second; nbdkit takes 0 for no limit. */
  private static void writeRate(Path folder, long bytesPerSecond) throws IOException {
    Files.writeString(rate(folder), Long.toString(bytesPerSecond * Byte.SIZE), US_ASCII);
  }

  private static Process start(Path log, String... command) throws IOException {
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(log.toFile())
        .start();
  }

  /** What a process makes when it is ready. */
  private interface Sign {
    boolean isThere();
  }

  private static void await(Process process, Sign sign, Path folder, String log)
      throws IOException, InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!sign.isThere()) {
      boolean alive = process.isAlive();
      if (!alive || System.nanoTime() > end) {
        process.destroyForcibly();
        Assumptions.abort(
            (alive ? "not ready: " : "ended: ") + Files.readString(folder.resolve(log)).strip());
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }
}
