package io.strata.kafka.segment;

import static io.strata.kafka.segment.TinyPool.BLOCK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolReader;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.segment.view.SegmentTag;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.NonWritableChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A segment as a tool sees it while the broker goes on; here both are one process. */
final class ReadOnlySegmentTest {

  private static final Set<StandardOpenOption> READ = Set.of(StandardOpenOption.READ);
  private static final Set<StandardOpenOption> READ_WRITE =
      Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);

  @TempDir(factory = MemoryBackedDirectory.class)
  Path directory;

  private TinyPool pool;
  private PoolReader reader;
  private Path logFile;
  private Segment written;
  private FileChannel writer;
  private ReadOnlySegment segment;

  @BeforeEach
  void open() throws IOException {
    Path file = directory.resolve("pool");
    pool = TinyPool.create(file);
    reader = Pool.openReadOnly(file);
    logFile = Files.createFile(directory.resolve("log"));
    written =
        new Segment(
            pool.allocate("s"), pool.pool(), 0, SegmentSettings.defaults(), SegmentEvents.NONE);
    writer = written.open(FileChannel.open(logFile, READ_WRITE), READ_WRITE);
    segment = new ReadOnlySegment(reader, written.tag());
  }

  @AfterEach
  void close() throws IOException {
    writer.close();
    reader.close();
    pool.close();
  }

  private FileChannel channel() throws IOException {
    return segment.open(FileChannel.open(logFile, READ), READ);
  }

  private static byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  @Test
  void followsTheWriterFromThePoolOverTheSeamAndBack() throws IOException {
    pool.leaveFree(2);
    byte[] bytes = bytes(3 * BLOCK);
    try (FileChannel channel = channel()) {
      assertThat(channel.size()).isZero();
      assertThat(channel.read(ByteBuffer.allocate(1), 0)).isEqualTo(-1);
      writer.write(ByteBuffer.wrap(bytes, 0, BLOCK + 10));
      assertThat(channel.size()).isEqualTo(BLOCK + 10);
      writer.write(ByteBuffer.wrap(bytes, BLOCK + 10, 2 * BLOCK - 10));
      assertThat(channel.size()).isEqualTo(3 * BLOCK);
      assertThat(Channels.newInputStream(channel).readAllBytes()).isEqualTo(bytes);
      ByteArrayOutputStream collected = new ByteArrayOutputStream();
      for (long at = 0; at < bytes.length; ) {
        at += channel.transferTo(at, bytes.length, Channels.newChannel(collected));
      }
      assertThat(collected.toByteArray()).isEqualTo(bytes);
      writer.truncate(100);
      assertThat(channel.size()).isEqualTo(100);
      channel.position(0);
      assertThat(Channels.newInputStream(channel).readAllBytes())
          .isEqualTo(Arrays.copyOf(bytes, 100));
      channel.force(true);
    }
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
    writer.write(ByteBuffer.wrap(bytes(100)));
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
