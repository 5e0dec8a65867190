package io.strata.kafka.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/**
 * The checksum of a copy as it is read back.
 *
 * <p>Thread safety: stateless.
 */
final class ReadBack {

  private ReadBack() {}

  static long ofPool(Residence in, long size) throws IOException {
    CRC32C checksum = new CRC32C();
    ByteBuffer buffer = CopySource.buffer(size);
    for (long at = 0; at < size; at += buffer.limit()) {
      buffer.clear().limit((int) Math.min(buffer.capacity(), size - at));
      in.bytes().load(in.slot().extents(), at, buffer, buffer.remaining());
      checksum.update(buffer.flip());
    }
    return checksum.getValue();
  }

  /** Of fewer bytes if home has fewer. */
  static long ofHome(FileChannel home, long size) throws IOException {
    CRC32C checksum = new CRC32C();
    long unused = pieces(home, size, checksum::update);
    return checksum.getValue();
  }

  /**
   * Hands on the first bytes of a log file, piece by piece.
   *
   * @param sink takes all of each piece
   * @return how many there were: fewer than {@code size} if the file has fewer
   */
  static long pieces(FileChannel home, long size, Consumer<ByteBuffer> sink) throws IOException {
    ByteBuffer buffer = CopySource.buffer(size);
    long at = 0;
    while (at < size) {
      buffer.clear().limit((int) Math.min(buffer.capacity(), size - at));
      int read = home.read(buffer, at);
      if (read <= 0) {
        break;
      }
      sink.accept(buffer.flip());
      at += read;
    }
    return at;
  }
}
