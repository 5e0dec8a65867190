package io.strata.kafka.segment;

import static io.strata.kafka.segment.TinyPool.BLOCK;
import static org.assertj.core.api.Assertions.assertThat;

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
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Transfers as Kafka makes them, over the spill offset: two blocks in the pool and two in the log
 * file.
 */
@Timeout(600)
final class TransferToTest {

  private static final Set<StandardOpenOption> READ_WRITE =
      Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);
  private static final int LENGTH = 4 * BLOCK;

  @TempDir(factory = MemoryBackedDirectory.class)
  Path directory;

  private final byte[] bytes = new byte[LENGTH];
  private TinyPool pool;
  private FileChannel channel;

  @BeforeEach
  void open() throws IOException {
    new Random(1).nextBytes(bytes);
    pool = TinyPool.create(directory.resolve("pool"));
    pool.leaveFree(2);
    Segment segment =
        new Segment(
            pool.allocate("s"), pool.pool(), 0, SegmentSettings.defaults(), SegmentEvents.NONE);
    Path logFile = Files.createFile(directory.resolve("log"));
    channel = segment.open(FileChannel.open(logFile, READ_WRITE), READ_WRITE);
    channel.write(ByteBuffer.wrap(bytes));
    assertThat(segment.bytesInPool()).isEqualTo(2 * BLOCK);
  }

  @AfterEach
  void close() throws IOException {
    channel.close();
    pool.close();
  }

  @Test
  void nonBlockingSocketGetsWhatItTakes() throws Exception {
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
        long moved = channel.transferTo(position, LENGTH - position, sending);
        taken += moved;
        position = (position + moved) % LENGTH;
        refused = moved == 0 ? refused + 1 : 0;
      }
      assertThat(channel.isOpen()).isTrue();
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
          long moved = channel.transferTo(position, LENGTH - position, sending);
          position = (position + moved) % LENGTH;
          taken += moved;
        }
      }
      assertThat(arrived).isEqualTo(taken);
    }
  }

  @Test
  void blockingChannelGetsEverythingInPieces() throws IOException {
    ByteArrayOutputStream collected = new ByteArrayOutputStream();
    long position = 0;
    while (position < LENGTH) {
      long moved = channel.transferTo(position, LENGTH, Channels.newChannel(collected));
      assertThat(moved).isPositive();
      position += moved;
    }
    assertThat(collected.toByteArray()).isEqualTo(bytes);
    assertThat(channel.transferTo(LENGTH, 10, Channels.newChannel(collected))).isZero();
    assertThat(channel.transferTo(LENGTH + 10, 10, Channels.newChannel(collected))).isZero();
    assertThat(channel.transferTo(0, 0, Channels.newChannel(collected))).isZero();
  }

  @Test
  void fileGetsEverythingInPieces() throws IOException {
    Path copy = directory.resolve("copy");
    try (FileChannel target =
        FileChannel.open(copy, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      long position = 0;
      while (position < LENGTH) {
        position += channel.transferTo(position, LENGTH - position, target);
        assertThat(target.position()).isEqualTo(position);
      }
    }
    assertThat(Files.readAllBytes(copy)).isEqualTo(bytes);
  }

  @Test
  void segmentGetsItsOwnBytes() throws IOException {
    // From and to the same segment: no lock is taken twice, no reader waits for the writer.
    channel.position(LENGTH);
    assertThat(channel.transferTo(10, 100, channel)).isEqualTo(100);
    ByteBuffer read = ByteBuffer.allocate(100);
    channel.read(read, LENGTH);
    assertThat(read.array()).isEqualTo(java.util.Arrays.copyOfRange(bytes, 10, 110));
    channel.position(0);
    assertThat(channel.transferFrom(channel, LENGTH + 100, 50)).isEqualTo(50);
  }

  @Test
  void fileGivesToTheSegment() throws IOException {
    Path source = Files.write(directory.resolve("source"), bytes);
    try (FileChannel from = FileChannel.open(source)) {
      channel.truncate(0);
      assertThat(channel.transferFrom(from, 0, LENGTH + 100)).isEqualTo(LENGTH);
      assertThat(channel.position()).isZero();
    }
    assertThat(Channels.newInputStream(channel).readAllBytes()).isEqualTo(bytes);
    assertThat(
            channel.transferFrom(
                Channels.newChannel(new java.io.ByteArrayInputStream(bytes)), LENGTH + 1, 10))
        .as("beyond the end, as on JDK 17")
        .isZero();
  }
}
