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

  /** Of fewer bytes if the log file has fewer. */
  static long ofFile(FileChannel logFile, long from, long to) throws IOException {
    CRC32C checksum = new CRC32C();
    long unused = pieces(logFile, from, to, checksum::update);
    return checksum.getValue();
  }

  /**
   * Hands on a log file's bytes, piece by piece.
   *
   * @param sink takes all of each piece
   * @return the offset that they end at: before {@code to} if the file does
   */
  static long pieces(FileChannel logFile, long from, long to, Consumer<ByteBuffer> sink)
      throws IOException {
    ByteBuffer buffer = CopySource.buffer(to - from);
    long at = from;
    while (at < to) {
      buffer.clear().limit((int) Math.min(buffer.capacity(), to - at));
      int read = logFile.read(buffer, at);
      if (read <= 0) {
        break;
      }
      sink.accept(buffer.flip());
      at += read;
    }
    return at;
  }
}
