package io.strata.kafka.migration.remote.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import com.sun.jna.Library;
import com.sun.jna.Native;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** On a file system with a disk below it; one in memory has all pages at all times. */
@EnabledOnOs(OS.LINUX)
class ReadAheadHintTest {

  private static final int MIB = 1 << 20;
  private static final int POSIX_FADV_DONTNEED = 4;

  /** What the test needs of libc. */
  public interface Kernel extends Library {
    int open(String path, int flags);

    int close(int descriptor);

    @SuppressWarnings({"checkstyle:MethodName", "MemberName"})
    int posix_fadvise(int descriptor, long offset, long length, int advice);
  }

  @TempDir Path directory;
  private Path file = Path.of("");

  @BeforeEach
  void createFile() throws IOException {
    file = Files.write(directory.resolve("log"), new byte[8 * MIB]);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.force(true);
    }
    Kernel kernel = Native.load("c", Kernel.class);
    int descriptor = kernel.open(file.toString(), 0);
    assertThat(kernel.posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)).isZero();
    assertThat(kernel.close(descriptor)).isZero();
  }

  private boolean isInPageCache(long position, long length) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      return channel.map(MapMode.READ_ONLY, position, length).isLoaded();
    }
  }

  @Test
  void theKernelReadsTheRangeThatNobodyHasReadYet() throws IOException {
    assumeThat(isInPageCache(4 * MIB, MIB)).as("a file system in memory").isFalse();

    ReadAheadHint.willNeed(file, 4 * MIB, 2 * MIB);

    await().until(() -> isInPageCache(4 * MIB, 2 * MIB));
    assertThat(isInPageCache(0, MIB)).isFalse();
  }

  @Test
  void aFileThatIsNotThereIsNoError() {
    ReadAheadHint.willNeed(directory.resolve("other"), 0, MIB);
  }
}
