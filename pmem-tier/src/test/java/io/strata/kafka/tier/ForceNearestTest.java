package io.strata.kafka.tier;

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
 * A partition is renamed while the unlinking of its segment is made durable: with an exception from
 * that, the segment's slot would not be freed before the next start.
 */
final class ForceNearestTest {

  private static final int TIMES = 3_000;

  @TempDir private Path logs;

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
