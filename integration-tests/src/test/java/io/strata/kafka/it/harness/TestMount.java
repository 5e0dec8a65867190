package io.strata.kafka.it.harness;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/**
 * A mounted file system of a test's own. Mounting needs root and the right to mount, which a
 * container may not have: the test is then skipped, and the reason is in its report.
 */
public final class TestMount implements AutoCloseable {

  private final Path point;
  private final List<String> command;

  private TestMount(Path point, List<String> command) {
    this.point = point;
    this.command = command;
  }

  /** An ext4 file system of so many MiB. */
  public static TestMount ext4(Path folder, int mebibytes)
      throws IOException, InterruptedException {
    return ext4(folder, mebibytes, "loop");
  }

  /** As {@link #ext4}, with so few files that there is soon no space for another one. */
  public static TestMount withFewFiles(Path folder, int mebibytes, int files)
      throws IOException, InterruptedException {
    return ext4(folder, mebibytes, "loop", "-N", "" + files);
  }

  /** As {@link #ext4}, and read-only from its first error on: see {@link #fail}. */
  public static TestMount fragile(Path folder, int mebibytes)
      throws IOException, InterruptedException {
    return ext4(folder, mebibytes, "loop,errors=remount-ro");
  }

  private static TestMount ext4(Path folder, int mebibytes, String options, String... how)
      throws IOException, InterruptedException {
    String image = folder.resolve("image").toString();
    Path point = Files.createDirectories(folder.resolve("mount"));
    must("truncate", "-s", mebibytes + "M", image);
    List<String> make = new ArrayList<>(List.of("mkfs.ext4", "-q", "-m", "0"));
    make.addAll(List.of(how));
    make.add(image);
    must(make.toArray(String[]::new));
    return mount(point, "mount", "-o", options, image, point.toString());
  }

  /** The file system on a device. */
  public static TestMount device(String device, Path folder)
      throws IOException, InterruptedException {
    Path point = Files.createDirectories(folder);
    return mount(point, "mount", device, point.toString());
  }

  /** A file system in memory that knows no user attributes. */
  public static TestMount withoutUserAttributes(Path folder)
      throws IOException, InterruptedException {
    Path point = Files.createDirectories(folder.resolve("mount"));
    return mount(point, "mount", "-t", "ramfs", "ramfs", point.toString());
  }

  /** The same folder once more. */
  public static TestMount bind(Path what, Path folder) throws IOException, InterruptedException {
    Path point = Files.createDirectories(folder);
    return mount(point, "mount", "--bind", what.toString(), point.toString());
  }

  /** The same file once more, as a container is given one. */
  public static TestMount bindFile(Path what, Path point) throws IOException, InterruptedException {
    Path made = Files.createFile(point);
    return mount(made, "mount", "--bind", what.toString(), made.toString());
  }

  /** The same folder once more, read-only. */
  public static TestMount readOnly(Path what, Path folder)
      throws IOException, InterruptedException {
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

  public Path path() {
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
  public void disappear() throws IOException, InterruptedException {
    change("umount", "-l", point.toString());
  }

  /** Mounts it again after it has disappeared. */
  public void comeBack() throws IOException, InterruptedException {
    change(command.toArray(new String[0]));
  }

  /**
   * Makes it read-only while it is in use, as the kernel does with a file system that has failed; a
   * bind mount, since another one's own could not be while a file is open for writing.
   */
  public void turnReadOnly() throws IOException, InterruptedException {
    disappear();
    comeBack();
    change("mount", "-o", "remount,bind,ro", point.toString());
  }

  /** Has the kernel find an error in it, and so make it read-only; one made by {@link #fragile}. */
  public void fail() throws IOException, InterruptedException {
    String device = output("findmnt", "-n", "-o", "SOURCE", point.toString());
    Path trigger =
        Path.of("/sys/fs/ext4", Path.of(device).getFileName().toString(), "trigger_fs_error");
    Assumptions.assumeTrue(Files.isWritable(trigger), trigger + " is not there");
    Files.writeString(trigger, "1\n", UTF_8);
  }

  /** What an operator does after {@link #fail}; no process may use it. */
  public void repair() throws IOException, InterruptedException {
    change("umount", point.toString());
    Path image = point.resolveSibling("image");
    // 1: errors were found, and corrected.
    change("sh", "-c", "e2fsck -fy '" + image + "' || test $? -eq 1");
    comeBack();
  }

  /** Unmounts before it returns, as what lies below it needs; lazily only if it is in use. */
  public void unmountNow() throws IOException, InterruptedException {
    if (!run("umount", point.toString()).isEmpty()) {
      close();
    }
  }

  /** Whether there is a command of the name. */
  public static boolean isInstalled(String command) throws IOException, InterruptedException {
    return run("sh", "-c", "command -v " + command + " >/dev/null").isEmpty();
  }

  /** Runs a command on what could be mounted: a test that is under way is not skipped. */
  private static void change(String... command) throws IOException, InterruptedException {
    String problem = run(command);
    if (!problem.isEmpty()) {
      throw new AssertionError(String.join(" ", command) + ": " + problem);
    }
  }

  /** Runs a command without which the test makes no sense. */
  public static void must(String... command) throws IOException, InterruptedException {
    String unused = output(command);
  }

  /** As {@link #must}, and what the command wrote. */
  public static String output(String... command) throws IOException, InterruptedException {
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
  public static String run(String... command) throws IOException, InterruptedException {
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
