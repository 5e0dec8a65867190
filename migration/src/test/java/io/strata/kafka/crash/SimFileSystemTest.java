package io.strata.kafka.crash;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class SimFileSystemTest {

  private static final int THREADS = 4;
  private static final int READS = 20_000;

  /** A store reads all of its directories at once when it is opened. */
  @Test
  void severalThreadsReadAtOnce() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      SimFileSystem disk = new SimFileSystem();
      Path file = Files.write(disk.getPath("/file"), new byte[] {1});
      CyclicBarrier start = new CyclicBarrier(THREADS);
      List<Future<?>> readers = new ArrayList<>();
      for (int thread = 0; thread < THREADS; thread++) {
        readers.add(
            threads.submit(
                () -> {
                  int unused = start.await();
                  for (int read = 0; read < READS; read++) {
                    assertThat(Files.readAllBytes(file)).containsExactly(1);
                  }
                  return null;
                }));
      }
      for (Future<?> reader : readers) {
        Object unused = reader.get();
      }
      assertThat(disk.open()).isEmpty();
    } finally {
      List<Runnable> unused = threads.shutdownNow();
    }
  }
}
