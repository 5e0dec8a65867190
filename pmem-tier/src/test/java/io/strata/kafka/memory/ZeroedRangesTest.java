package io.strata.kafka.memory;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ZeroedRangesTest {

  /** As on a file system that is full, where the file shares blocks with a copy of it. */
  @Test
  void whatTheSystemRefusesNamesTheRange(@TempDir Path directory) throws IOException {
    Path file = Files.write(directory.resolve("x.pool"), new byte[8192]);
    Optional<ZeroedRanges> ranges = ZeroedRanges.open(file);
    assumeThat(ranges).isPresent();
    try (ZeroedRanges opened = ranges.orElseThrow()) {
      assertThatThrownBy(() -> opened.zero(-4096, 4096))
          .isInstanceOf(IOException.class)
          .hasMessageStartingWith("Cannot make 4096 bytes of " + file + " at position -4096 zeros");
    }
  }
}
