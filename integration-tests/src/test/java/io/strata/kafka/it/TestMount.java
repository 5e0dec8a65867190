package io.strata.kafka.it;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/**
 * A mounted file system of a test's own. Mounting needs root and the right to mount, which a
 * container may not have: the test is then skipped, and the reason is in its report.
 */
final class TestMount implements AutoCloseable {

  private final Path point;
  private final List<String> command;

  private TestMount(Path point, List<String> command) {
    this.point = point;
    this.command = command;
  }

  /** An ext4 file system of so many MiB. */
  static TestMount ext4(Path folder, int mebibytes) throws IOException, InterruptedException {
    Path image = folder.resolve("image");
    Path point = Files.createDirectories(folder.resolve("mount"));
    must("truncate", "-s", mebibytes + "M", image.toString());
    must("mkfs.ext4", "-q", "-m", "0", image.toString());
    return mount(point, "mount", "-o", "loop", image.toString(), point.toString());
  }

  /** As {@link #ext4}, with so few files that there is soon no space for another one. */
  static TestMount withFewFiles(Path folder, int mebibytes, int files)
      throws IOException, InterruptedException {
    Path image = folder.resolve("image");
    Path point = Files.createDirectories(folder.resolve("mount"));
    must("truncate", "-s", mebibytes + "M", image.toString());
    must("mkfs.ext4", "-q", "-m", "0", "-N", "" + files, image.toString());
    return mount(point, "mount", "-o", "loop", image.toString(), point.toString());
  }

  /** As {@link #ext4}, and read-only from its first error on: see {@link #fail}. */
  static TestMount fragile(Path folder, int mebibytes) throws IOException, InterruptedException {
    Path image = folder.resolve("image");
    Path point = Files.createDirectories(folder.resolve("mount"));
    must("truncate", "-s", mebibytes + "M", image.toString());
    must("mkfs.ext4", "-q", "-m", "0", image.toString());
    return mount(
        point, "mount", "-o", "loop,errors=remount-ro", image.toString(), point.toString());
  }

  /** The file system on a device. */
  static TestMount device(String device, Path folder) throws IOException, InterruptedException {
    Path point = Files.createDirectories(folder);
    return mount(point, "mount", device, point.toString());
  }

  /** A file system in memory that knows no user attributes. */
  static TestMount withoutUserAttributes(Path folder) throws IOException, InterruptedException {
    Path point = Files.createDirectories(folder.resolve("mount"));
    return mount(point, "mount", "-t", "ramfs", "ramfs", point.toString());
  }

  /** The same folder once more. */
  static TestMount bind(Path what, Path folder) throws IOException, InterruptedException {
    Path point = Files.createDirectories(folder);
    return mount(point, "mount", "--bind", what.toString(), point.toString());
  }

  /** The same file once more, as a container is given one. */
  static TestMount bindFile(Path what, Path point) throws IOException, InterruptedException {
    Path made = Files.createFile(point);
    return mount(made, "mount", "--bind", what.toString(), made.toString());
  }

  /** The same folder once more, read-only. */
  static TestMount readOnly(Path what, Path folder) throws IOException, InterruptedException {
    Path point = Files.createDirectories(folder);
    TestMount mounted = mount(point, "mount", "--bind", what.toString(), point.toString());
    must("mount", "-o", "remount,bind,ro", point.toString());
    return mounted;
  }

  private static TestMount mount(Path point, String... command)
      throws IOException, InterruptedException {
    must(command);
    return new TestMount(point, List.of(command));
  }

  Path path() {
    return point;
  }

  @Override
  public void close() throws IOException {
    try {
      run("umount", "-l", point.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while unmounting " + point, e);
    }
  }

  /** Takes it away while it is in use: open files stay, the path leads to an empty directory. */
  void disappear() throws IOException, InterruptedException {
    must("umount", "-l", point.toString());
  }

  /** Mounts it again after it has disappeared. */
  void comeBack() throws IOException, InterruptedException {
    must(command.toArray(new String[0]));
  }

  /**
   * Makes it read-only while it is in use, as the kernel does with a file system that has failed; a
   * bind mount, since another one's own could not be while a file is open for writing.
   */
  void turnReadOnly() throws IOException, InterruptedException {
    disappear();
    comeBack();
    must("mount", "-o", "remount,bind,ro", point.toString());
  }

  /** Has the kernel find an error in it, and so make it read-only; one made by {@link #fragile}. */
  void fail() throws IOException, InterruptedException {
    String device = output("findmnt", "-n", "-o", "SOURCE", point.toString());
    Path trigger =
        Path.of("/sys/fs/ext4", Path.of(device).getFileName().toString(), "trigger_fs_error");
    Assumptions.assumeTrue(Files.isWritable(trigger), trigger + " is not there");
    Files.writeString(trigger, "1\n", UTF_8);
  }

  /** What an operator does after {@link #fail}; no process may use it. */
  void repair() throws IOException, InterruptedException {
    must("umount", point.toString());
    Path image = point.resolveSibling("image");
    // 1: errors were found, and corrected.
    must("sh", "-c", "e2fsck -fy '" + image + "' || test $? -eq 1");
    comeBack();
  }

  /** Unmounts before it returns, as what lies below it needs; lazily only if it is in use. */
  void unmountNow() throws IOException, InterruptedException {
    if (!run("umount", point.toString()).isEmpty()) {
      close();
    }
  }

  /** Whether there is a command of the name. */
  static boolean isInstalled(String command) throws IOException, InterruptedException {
    return run("sh", "-c", "command -v " + command + " >/dev/null").isEmpty();
  }

  /** Runs a command without which the test makes no sense. */
  static void must(String... command) throws IOException, InterruptedException {
    String unused = output(command);
  }

  /** As {@link #must}, and what the command wrote. */
  static String output(String... command) throws IOException, InterruptedException {
    Ended ended;
    try {
      ended = end(command);
    } catch (IOException e) {
      ended = new Ended(1, String.valueOf(e.getMessage()));
    }
    Assumptions.assumeTrue(
        ended.exitCode() == 0,
        "cannot run " + String.join(" ", command) + " here: " + ended.problem());
    return ended.text();
  }

  /** Empty, or what went wrong. */
  static String run(String... command) throws IOException, InterruptedException {
    return end(command).problem();
  }

  private record Ended(int exitCode, String text) {

    String problem() {
      return exitCode == 0 ? "" : "exit code " + exitCode + ", " + text;
    }
  }

  private static Ended end(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(List.of(command)).redirectErrorStream(true).start();
    try (InputStream output = process.getInputStream()) {
      String text = new String(output.readAllBytes(), UTF_8).strip();
      return new Ended(process.waitFor(), text);
    }
  }
}
