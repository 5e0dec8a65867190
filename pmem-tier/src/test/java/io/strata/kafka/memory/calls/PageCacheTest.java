package io.strata.kafka.memory.calls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On a file system with a page cache, where {@code fincore} of util-linux shows what is in it. */
class PageCacheTest {

  private static final int MIB = 1 << 20;

  @TempDir private Path folder = Path.of("");

  @Test
  void bytesComeAndGo() throws Exception {
    Path file = Files.write(folder.resolve("file"), new byte[24 * MIB]);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.force(true);
    }
    PageCache.drop(file);
    assumeThat(cached(file)).isZero();
    PageCache.fill(file, 10 * MIB, 3 * MIB);
    await().untilAsserted(() -> assertThat(cached(file)).isBetween(3L * MIB, 4L * MIB));
    PageCache.drop(file);
    assertThat(cached(file)).isZero();
  }

  /** Only pages that are on the device can be dropped. */
  @Test
  void aRangeThatIsWrittenOutLeavesTheCache() throws Exception {
    Path file = Files.write(folder.resolve("file"), new byte[24 * MIB]);
    assumeThat(cached(file)).isEqualTo(24L * MIB);
    try (PageCache.WriteOut out = PageCache.writeOut(file)) {
      out.range(0, 20 * MIB);
    }
    assertThat(cached(file)).isEqualTo(4L * MIB);
  }

  @Test
  void aFileThatIsNotThereIsNoFailure() {
    try (PageCache.WriteOut out = PageCache.writeOut(folder.resolve("none"))) {
      out.range(0, MIB);
    }
    PageCache.fill(folder.resolve("none"), 0, MIB);
    PageCache.drop(folder.resolve("none"));
  }

  /** Bytes in the page cache; -1 where there is no such program. */
  private static long cached(Path file) throws IOException {
    try {
      Process process = new ProcessBuilder("fincore", "-nb", "-o", "RES", file.toString()).start();
      byte[] output = process.getInputStream().readAllBytes();
      return Long.parseLong(new String(output, StandardCharsets.UTF_8).trim());
    } catch (IOException | NumberFormatException e) {
      return -1;
    }
  }
}
