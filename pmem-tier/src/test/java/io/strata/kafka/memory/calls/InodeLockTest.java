package io.strata.kafka.memory.calls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.strata.kafka.memory.MemoryOpener;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.PersistentMemory;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class InodeLockTest {

  @TempDir private Path directory;
  private Path file = Path.of("");

  @BeforeEach
  void createFile() throws IOException {
    file = Files.write(directory.resolve("x.pool"), new byte[4096]);
  }

  /** With and without libc on either side, by another name. */
  @ParameterizedTest
  @CsvSource({"true,true", "true,false", "false,true", "false,false"})
  void oneProcessAtATime(boolean here, boolean there) throws Exception {
    assumeThat(LibC.available()).isTrue();
    Path link = Files.createLink(directory.resolve("link"), file);
    Process holder = hold(link, there);
    try {
      assertThat(InodeLock.tryLock(file, here)).isEmpty();
    } finally {
      holder.destroyForcibly().waitFor();
    }
    try (InodeLock lock = InodeLock.tryLock(file, here).orElseThrow()) {
      lock.renew();
      assertThat(asked(link, there)).isEqualTo("not locked");
    }
    assertThat(asked(link, there)).isEqualTo("locked");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void onceInAProcess(boolean libc) throws Exception {
    assumeThat(!libc || LibC.available()).isTrue();
    try (InodeLock lock = InodeLock.tryLock(file, libc).orElseThrow()) {
      assertThat(InodeLock.tryLock(file, libc)).isEmpty();
      lock.renew();
      assertThat(asked(file, libc)).as("after a second attempt").isEqualTo("not locked");
    }
    InodeLock.tryLock(file, libc).orElseThrow().close();
  }

  /** A pool is mapped, probed and read by descriptors of their own. */
  @Test
  void closingAnotherDescriptorDoesNotDropIt() throws Exception {
    assumeThat(LibC.available()).isTrue();
    try (InodeLock lock = InodeLock.tryLock(file).orElseThrow()) {
      try (PersistentMemory memory = MemoryOpener.open(MemoryType.MAPPED, file, lock)) {
        memory.storeLong(0, 1);
        assertThat(Files.readAllBytes(file)).hasSize(4096);
        assertThat(asked(file, true)).isEqualTo("not locked");
        assertThat(asked(file, false)).isEqualTo("not locked");
      }
      assertThat(asked(file, true)).isEqualTo("not locked");
    }
  }

  /** The JDK's lock is dropped by each closing: it is there again when the memory is. */
  @ParameterizedTest
  @ValueSource(strings = {"MAPPED", "FILE"})
  void withoutLibcItIsTakenAgain(MemoryType type) throws Exception {
    try (InodeLock lock = InodeLock.tryLock(file, false).orElseThrow();
        PersistentMemory memory = MemoryOpener.open(type, file, lock)) {
      assertThat(asked(file, false)).isEqualTo("not locked");

      // Closes the channel of the type file, which opens it again.
      Thread.currentThread().interrupt();
      memory.store(0, ByteBuffer.wrap(new byte[] {1}));
      assertThat(Thread.interrupted()).isTrue();
      assertThat(asked(file, false)).isEqualTo("not locked");
    }
  }

  @Test
  void withoutLibcALockThatWasLostEndsTheWriting() throws Exception {
    try (InodeLock lock = InodeLock.tryLock(file, false).orElseThrow()) {
      FileChannel.open(file, StandardOpenOption.READ).close();
      Process holder = hold(file, false);
      try {
        assertThatThrownBy(lock::renew)
            .isInstanceOf(FileSystemException.class)
            .hasMessageContaining("found that another process has locked it meanwhile");
      } finally {
        holder.destroyForcibly().waitFor();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anotherFileByTheName(boolean libc) throws IOException {
    assumeThat(!libc || LibC.available()).isTrue();
    try (InodeLock lock = InodeLock.tryLock(file, libc).orElseThrow()) {
      Path other = Files.write(directory.resolve("other"), new byte[4096]);
      Path unused = Files.move(other, file, StandardCopyOption.ATOMIC_MOVE);
      assertThatThrownBy(lock::renew)
          .hasMessageContaining("found that another file has its name now");
      assertThatThrownBy(() -> MemoryOpener.open(MemoryType.MAPPED, file, lock))
          .hasMessageContaining("found that another file has its name now");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aFileThatCannotBeOpened(boolean libc) throws IOException {
    assumeThat(!libc || LibC.available()).isTrue();
    Files.delete(file);
    assertThatThrownBy(() -> InodeLock.tryLock(file, libc))
        .isInstanceOf(NoSuchFileException.class)
        .hasMessage(file.toString());
    Files.createFile(file);
    assertThat(file.toFile().setReadOnly()).isTrue();
    if (!Files.isWritable(file)) {
      assertThatThrownBy(() -> InodeLock.tryLock(file, libc))
          .isInstanceOf(AccessDeniedException.class);
    }
  }

  private static String asked(Path file, boolean libc) throws Exception {
    Process asked = start(file, libc);
    String answer = line(asked);
    asked.destroyForcibly().waitFor();
    return answer;
  }

  private static Process hold(Path file, boolean libc) throws IOException {
    Process holder = start(file, libc);
    assertThat(line(holder)).isEqualTo("locked");
    return holder;
  }

  private static String line(Process process) throws IOException {
    return new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))
        .readLine();
  }

  private static Process start(Path file, boolean libc) throws IOException {
    return new ProcessBuilder(
            ProcessHandle.current().info().command().orElse("java"),
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            Holder.class.getName(),
            file.toString(),
            Boolean.toString(libc))
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  /** Tries to lock a file, says whether it did, and holds the lock until it is killed. */
  static final class Holder {
    private Holder() {}

    public static void main(String[] args) throws Exception {
      Optional<InodeLock> lock = InodeLock.tryLock(Path.of(args[0]), Boolean.parseBoolean(args[1]));
      System.out.println(lock.isPresent() ? "locked" : "not locked");
      Thread.sleep(Duration.ofMinutes(1).toMillis());
      System.out.println(lock);
    }
  }
}
