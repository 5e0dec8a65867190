package io.strata.kafka.segment;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** The broker's own view of a segment. */
final class SegmentAsBytesTest extends SegmentBytesContract {

  @Override
  FileChannel openReader() throws IOException {
    return written.open(FileChannel.open(logFile, READ), READ);
  }

  @Test
  void segmentGetsItsOwnBytes() throws IOException {
    write();
    // From and to the same segment: no lock is taken twice, no reader waits for the writer.
    writer.position(LENGTH);
    assertThat(writer.transferTo(10, 100, writer)).isEqualTo(100);
    ByteBuffer read = ByteBuffer.allocate(100);
    writer.read(read, LENGTH);
    assertThat(read.array()).isEqualTo(Arrays.copyOfRange(bytes, 10, 110));
    writer.position(0);
    assertThat(writer.transferFrom(writer, LENGTH + 100, 50)).isEqualTo(50);
  }

  @Test
  void fileGivesToTheSegment() throws IOException {
    Path source = Files.write(directory.resolve("source"), bytes);
    try (FileChannel from = FileChannel.open(source)) {
      assertThat(writer.transferFrom(from, 0, LENGTH + 100)).isEqualTo(LENGTH);
      assertThat(writer.position()).isZero();
    }
    assertThat(Channels.newInputStream(writer).readAllBytes()).isEqualTo(bytes);
    assertThat(
            writer.transferFrom(
                Channels.newChannel(new ByteArrayInputStream(bytes)), LENGTH + 1, 10))
        .as("beyond the end, as on JDK 17")
        .isZero();
  }
}
