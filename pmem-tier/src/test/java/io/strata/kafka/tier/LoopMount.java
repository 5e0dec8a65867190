package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * A small file system in a file, mounted for one test; the test is skipped where that cannot be.
 */
public final class LoopMount implements AutoCloseable {

  private final Path directory;

  private LoopMount(Path directory) {
    this.directory = directory;
  }

  /**
   * Makes and mounts one.
   *
   * @param below where its file and its mount point are made
   * @param type ext4, xfs, btrfs
   */
  public static LoopMount of(Path below, String type, int mebibytes)
      throws IOException, InterruptedException {
    Path image = below.resolve(type + ".image");
    try (RandomAccessFile file = new RandomAccessFile(image.toString(), "rw")) {
      file.setLength((long) mebibytes << 20);
    }
    Path directory = Files.createDirectory(below.resolve(type));
    String made = run("mkfs." + type, "-q", image.toString());
    String mounted =
        made.isEmpty() ? run("mount", "-o", "loop", image.toString(), directory.toString()) : made;
    assumeThat(mounted).as("a file system of type %s can be made and mounted", type).isEmpty();
    return new LoopMount(directory);
  }

  /** Mounts a file system in another place, too. */
  public static LoopMount again(LoopMount other, Path directory)
      throws IOException, InterruptedException {
    Files.createDirectory(directory);
    String mounted = run("mount", "--bind", other.directory.toString(), directory.toString());
    assumeThat(mounted).as("a directory can be mounted").isEmpty();
    return new LoopMount(directory);
  }

  /** Mounts a directory read-only in its place; the file system's other directories stay. */
  public static LoopMount readOnly(Path directory) throws IOException, InterruptedException {
    String mounted = run("mount", "--bind", directory.toString(), directory.toString());
    assumeThat(mounted).as("a directory can be mounted").isEmpty();
    LoopMount mount = new LoopMount(directory);
    assertThat(run("mount", "-o", "remount,bind,ro", directory.toString())).isEmpty();
    return mount;
  }

  /** Where it is mounted. */
  public Path directory() {
    return directory;
  }

  /** Lets nothing be written there, or again. */
  void readOnly(boolean now) throws IOException, InterruptedException {
    String option = "remount," + (now ? "ro" : "rw");
    assertThat(run("mount", "-o", option, directory.toString())).isEmpty();
  }

  /** Lets a file be neither changed nor deleted, or again, by any user. */
  void immutable(Path file, boolean now) throws IOException, InterruptedException {
    assertThat(run("chattr", now ? "+i" : "-i", file.toString())).isEmpty();
  }

  /** Empty if all went well. */
  private static String run(String... command) throws IOException, InterruptedException {
    List<String> words = Arrays.asList(command);
    try {
      Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
      String output =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      int code = process.waitFor();
      return code == 0 ? "" : words + ": " + code + " " + output;
    } catch (IOException e) {
      return words + ": " + e.getMessage();
    }
  }

  @Override
  public void close() throws IOException {
    try {
      // Lazily: a pool that was mapped there stays mapped until its buffers are collected.
      String result = run("umount", "-l", directory.toString());
      if (!result.isEmpty()) {
        throw new IOException(result);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
