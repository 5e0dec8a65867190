package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.crash.SimFileSystem;
import io.strata.kafka.tier.directory.Directories;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The unlinking of a segment is made durable where its partition is now: renamed meanwhile, or on a
 * disk that fails. Without an exception its slot is freed, and with one it is not before the next
 * start.
 */
final class ForceNearestTest {

  private static final int TIMES = 3_000;

  @TempDir private Path logs;

  /** Seen by the disk below it, a directory that cannot be looked at is not gone. */
  @Test
  void aDirectoryThatCannotBeLookedAtIsNotGone() throws IOException {
    SimFileSystem disk = new SimFileSystem();
    Path partition = disk.getPath("/logs/orders-0");
    Files.createDirectory(disk.getPath("/logs"));
    Files.createDirectory(partition);
    disk.calls(
        (call, on, bytes) -> {
          if (on.startsWith("/logs")) {
            throw new IOException("Input/output error");
          }
          return bytes;
        });
    assertThatThrownBy(() -> Directories.forceNearest(partition)).hasMessage("Input/output error");
  }

  @Test
  void theDirectoryIsRenamedMeanwhile() throws Exception {
    Path partition = Files.createDirectory(logs.resolve("orders-0"));
    Path other = logs.resolve("orders-0.0123456789abcdef0123456789abcdef-delete");
    AtomicBoolean stop = new AtomicBoolean();
    CompletableFuture<Void> renaming =
        CompletableFuture.runAsync(
            () -> {
              try {
                while (!stop.get()) {
                  Files.move(partition, other);
                  Files.move(other, partition);
                }
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
    try {
      for (int i = 0; i < TIMES; i++) {
        Directories.forceNearest(partition);
      }
    } finally {
      stop.set(true);
      renaming.join();
    }
  }
}
