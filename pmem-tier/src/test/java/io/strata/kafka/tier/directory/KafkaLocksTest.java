package io.strata.kafka.tier.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

public class KafkaLocksTest {

  @TempDir private Path directory;
  private Path first = Path.of("");
  private Path second = Path.of("");

  @BeforeEach
  void createLogDirectories() throws IOException {
    first = Files.createDirectory(directory.resolve("first"));
    second = Files.createDirectory(directory.resolve("second"));
  }

  private void requireFree() throws IOException {
    KafkaLocks.requireFree(List.of(first, directory.resolve("missing"), second));
  }

  @Test
  void aBrokerHasOne() throws Exception {
    Path file = Files.createFile(second.resolve(".lock"));
    Process broker = start(file);
    try {
      assertThat(line(broker)).isEqualTo("locked");
      assertThatThrownBy(this::requireFree)
          .hasMessageContainingAll("" + second, "" + file, "a broker runs on this log directory");
    } finally {
      broker.destroyForcibly().waitFor();
    }
    requireFree();
  }

  @Test
  void nothingIsLeftLocked() throws Exception {
    Path file = Files.createFile(first.resolve(".lock"));
    requireFree();
    assertThat(second.resolve(".lock")).doesNotExist();
    assertThat(another(file)).isEqualTo("locked");
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
        FileLock lock = channel.tryLock()) {
      assertThat(lock).isNotNull();
    }
  }

  /** Kafka may have locked it before: closing a descriptor of the file would drop the lock. */
  @Test
  void thisProcessKeepsWhatItHas() throws Exception {
    Path file = Files.createFile(first.resolve(".lock"));
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
        FileLock lock = channel.tryLock()) {
      assertThat(lock.isValid()).isTrue();
      requireFree();
      System.gc();
      assertThat(another(file)).isEqualTo("not locked");
    }
  }

  private static String another(Path file) throws Exception {
    Process process = start(file);
    String answer = line(process);
    process.destroyForcibly().waitFor();
    return answer;
  }

  public static String line(Process process) throws IOException {
    return new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))
        .readLine();
  }

  public static Process start(Path file) throws IOException {
    return new ProcessBuilder(
            ProcessHandle.current().info().command().orElse("java"),
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            Locking.class.getName(),
            file.toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  /** Locks a file as Kafka does, and holds it until it is killed. */
  static final class Locking {
    private Locking() {}

    public static void main(String[] args) throws Exception {
      FileChannel channel =
          FileChannel.open(
              Path.of(args[0]),
              StandardOpenOption.CREATE,
              StandardOpenOption.READ,
              StandardOpenOption.WRITE);
      FileLock lock = channel.tryLock();
      System.out.println(lock == null ? "not locked" : "locked");
      Thread.sleep(Duration.ofMinutes(1).toMillis());
      System.out.println(channel + " " + lock);
    }
  }
}
