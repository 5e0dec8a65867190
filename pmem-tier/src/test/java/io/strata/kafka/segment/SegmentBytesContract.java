package io.strata.kafka.segment;

import static io.strata.kafka.segment.TinyPool.BLOCK;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.segment.view.SegmentBytes;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What {@link SegmentBytes} promises a reader, held against every implementation: the same bytes as
 * the writer's, in the pool, in the log file and over the spill offset. Kafka's transfers are among
 * them.
 */
@Timeout(600)
abstract class SegmentBytesContract {

  static final Set<StandardOpenOption> READ = Set.of(StandardOpenOption.READ);
  static final Set<StandardOpenOption> READ_WRITE =
      Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);

  /** Two blocks in the pool and two in the log file. */
  static final int LENGTH = 4 * BLOCK;

  @TempDir(factory = MemoryBackedDirectory.class)
  Path directory;

  final byte[] bytes = new byte[LENGTH];
  TinyPool pool;
  Path logFile;
  Segment written;
  FileChannel writer;
  private FileChannel reader;

  /** Opens what is to be tested, for reading. */
  abstract FileChannel openReader() throws IOException;

  @BeforeEach
  void open() throws IOException {
    new Random(1).nextBytes(bytes);
    pool = TinyPool.create(directory.resolve("pool"));
    logFile = Files.createFile(directory.resolve("log"));
    written =
        new Segment(
            pool.allocate("s"), pool.pool(), 0, SegmentSettings.defaults(), SegmentEvents.NONE);
    writer = written.open(FileChannel.open(logFile, READ_WRITE), READ_WRITE);
    reader = openReader();
  }

  @AfterEach
  void close() throws IOException {
    reader.close();
    writer.close();
    pool.close();
  }

  final void write() throws IOException {
    pool.leaveFree(2);
    writer.write(ByteBuffer.wrap(bytes));
    assertThat(written.bytesInPool()).isEqualTo(2 * BLOCK);
  }

  @Test
  void followsTheWriterFromThePoolOverTheSeamAndBack() throws IOException {
    pool.leaveFree(2);
    assertThat(reader.size()).isZero();
    assertThat(reader.read(ByteBuffer.allocate(1), 0)).isEqualTo(-1);
    writer.write(ByteBuffer.wrap(bytes, 0, BLOCK + 10));
    assertThat(reader.size()).isEqualTo(BLOCK + 10);
    writer.write(ByteBuffer.wrap(bytes, BLOCK + 10, 2 * BLOCK - 10));
    assertThat(reader.size()).isEqualTo(3 * BLOCK);
    assertThat(Channels.newInputStream(reader).readAllBytes())
        .isEqualTo(Arrays.copyOf(bytes, 3 * BLOCK));
    writer.truncate(100);
    assertThat(reader.size()).isEqualTo(100);
    assertThat(Channels.newInputStream(reader.position(0)).readAllBytes())
        .isEqualTo(Arrays.copyOf(bytes, 100));
    reader.force(true);
  }

  @Test
  void aReadMayBeginAnywhere() throws IOException {
    write();
    Random random = new Random(2);
    for (int i = 0; i < 1000; i++) {
      int at = random.nextInt(LENGTH);
      ByteBuffer target = ByteBuffer.allocate(1 + random.nextInt(BLOCK));
      int read = reader.read(target, at);
      assertThat(read).isPositive();
      assertThat(Arrays.copyOf(target.array(), read))
          .isEqualTo(Arrays.copyOfRange(bytes, at, at + read));
    }
    ByteBuffer target = ByteBuffer.allocate(10);
    assertThat(reader.read(target, LENGTH)).isEqualTo(-1);
    assertThat(reader.read(target, LENGTH + 10)).isEqualTo(-1);
    assertThat(target.position()).isZero();
  }

  @Test
  void nonBlockingSocketGetsWhatItTakes() throws Exception {
    write();
    try (ServerSocketChannel server =
            ServerSocketChannel.open()
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        SocketChannel sending = SocketChannel.open(server.getLocalAddress());
        SocketChannel receiving = server.accept()) {
      sending.configureBlocking(false);
      // The other side does not read: the socket takes so much, and then nothing, and no call
      // waits.
      long taken = 0;
      long position = 0;
      int refused = 0;
      while (refused < 3) {
        long moved = reader.transferTo(position, LENGTH - position, sending);
        taken += moved;
        position = (position + moved) % LENGTH;
        refused = moved == 0 ? refused + 1 : 0;
      }
      assertThat(reader.isOpen()).isTrue();
      // Now the peer reads, and the socket takes more.
      ByteBuffer received = ByteBuffer.allocate(1 << 16);
      long arrived = 0;
      while (arrived < taken || taken < 4L * LENGTH) {
        receiving.read(received.clear());
        received.flip();
        while (received.hasRemaining()) {
          assertThat(received.get()).isEqualTo(bytes[(int) (arrived++ % LENGTH)]);
        }
        if (taken < 4L * LENGTH) {
          long moved = reader.transferTo(position, LENGTH - position, sending);
          position = (position + moved) % LENGTH;
          taken += moved;
        }
      }
      assertThat(arrived).isEqualTo(taken);
    }
  }

  @Test
  void blockingChannelGetsEverythingInPieces() throws IOException {
    write();
    ByteArrayOutputStream collected = new ByteArrayOutputStream();
    long position = 0;
    while (position < LENGTH) {
      long moved = reader.transferTo(position, LENGTH, Channels.newChannel(collected));
      assertThat(moved).isPositive();
      position += moved;
    }
    assertThat(collected.toByteArray()).isEqualTo(bytes);
    assertThat(reader.transferTo(LENGTH, 10, Channels.newChannel(collected))).isZero();
    assertThat(reader.transferTo(LENGTH + 10, 10, Channels.newChannel(collected))).isZero();
    assertThat(reader.transferTo(0, 0, Channels.newChannel(collected))).isZero();
  }

  @Test
  void fileGetsEverythingInPieces() throws IOException {
    write();
    Path copy = directory.resolve("copy");
    try (FileChannel target =
        FileChannel.open(copy, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      long position = 0;
      while (position < LENGTH) {
        position += reader.transferTo(position, LENGTH - position, target);
        assertThat(target.position()).isEqualTo(position);
      }
    }
    assertThat(Files.readAllBytes(copy)).isEqualTo(bytes);
  }
}
