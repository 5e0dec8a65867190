package io.strata.kafka.segment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolReader;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.segment.view.SegmentTag;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.NonWritableChannelException;
import java.nio.file.AccessDeniedException;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A segment as a tool sees it while the broker goes on; here both are one process. */
final class ReadOnlySegmentTest extends SegmentBytesContract {

  @SuppressWarnings("NullAway.Init") // Made before each test, by openReader.
  private PoolReader reader;

  @SuppressWarnings("NullAway.Init")
  private ReadOnlySegment segment;

  @Override
  FileChannel openReader() throws IOException {
    reader = Pool.openReadOnly(pool.pool().info().path());
    segment = new ReadOnlySegment(reader, written.tag());
    return channel();
  }

  @AfterEach
  void closeReader() throws IOException {
    reader.close();
  }

  private FileChannel channel() throws IOException {
    return segment.open(FileChannel.open(logFile, READ), READ);
  }

  @Test
  void doesNotWrite() throws IOException {
    assertThatThrownBy(() -> segment.open(FileChannel.open(logFile, READ_WRITE), READ_WRITE))
        .isInstanceOf(AccessDeniedException.class)
        .hasMessageContaining("only the broker");
    try (FileChannel channel = channel()) {
      ByteBuffer source = ByteBuffer.allocate(1);
      assertThatThrownBy(() -> channel.write(source))
          .isInstanceOf(NonWritableChannelException.class);
      assertThatThrownBy(() -> channel.write(source, 0))
          .isInstanceOf(NonWritableChannelException.class);
      assertThatThrownBy(() -> channel.truncate(0)).isInstanceOf(NonWritableChannelException.class);
      assertThatThrownBy(() -> channel.map(FileChannel.MapMode.READ_ONLY, 0, 1))
          .isInstanceOf(UnsupportedOperationException.class);
    }
  }

  @Test
  void saysThatTheSegmentIsGoneAndNeverShowsTheNextOne() throws IOException {
    writer.write(ByteBuffer.wrap(bytes, 0, 100));
    try (FileChannel channel = channel()) {
      writer.close();
      assertThat(channel.read(ByteBuffer.allocate(100), 0)).as("still there").isEqualTo(100);
      written.markDeleting();
      assertThatThrownBy(() -> channel.read(ByteBuffer.allocate(100), 0))
          .hasMessageContaining("open the file again");
      written.free();
      Slot next = pool.allocate("next");
      while (next.index() != written.tag().slot()) {
        next.free();
        next = pool.allocate("next");
      }
      assertThatThrownBy(() -> channel.read(ByteBuffer.allocate(100), 0))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("open the file again");
      assertThatThrownBy(channel::size).isInstanceOf(IOException.class);
      assertThat(channel.isOpen()).isTrue();
      assertThat(segment.slot()).isEmpty();
    }
  }

  @Test
  void tagOfAnotherPoolIsRefused() {
    SegmentTag other = new SegmentTag(new UUID(5, 6), 0, 1);
    assertThatThrownBy(() -> new ReadOnlySegment(reader, other))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
