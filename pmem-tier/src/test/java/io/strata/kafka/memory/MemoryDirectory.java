package io.strata.kafka.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDirFactory;

/** Where tests find file systems of either kind; without one they are reported as skipped. */
public final class MemoryDirectory {
  private static final Path TMPFS = Path.of("/dev/shm");

  private MemoryDirectory() {}

  /** Makes temporary directories in main memory. */
  public static final class OnTmpfs implements TempDirFactory {
    @Override
    public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext test)
        throws IOException {
      Assumptions.assumeTrue(
          Files.isDirectory(TMPFS) && FileProbe.isMemoryBacked(TMPFS),
          "no memory-backed file system at " + TMPFS);
      return Files.createTempDirectory(TMPFS, "strata-test");
    }
  }

  /** Makes temporary directories on a disk, among the build's output. */
  public static final class OnDisk implements TempDirFactory {
    @Override
    public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext test)
        throws IOException {
      Path target = Files.createDirectories(Path.of("target"));
      Assumptions.assumeFalse(
          FileProbe.isMemoryBacked(target), "the build's output is on a memory-backed file system");
      return Files.createTempDirectory(target, "strata-test").toAbsolutePath();
    }
  }
}
