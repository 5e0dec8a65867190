package io.strata.kafka.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
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
    ByteBuffer buffer = CopySource.buffer(size);
    long at = 0;
    while (at < size) {
      buffer.clear().limit((int) Math.min(buffer.capacity(), size - at));
      int read = home.read(buffer, at);
      if (read <= 0) {
        break;
      }
      checksum.update(buffer.flip());
      at += read;
    }
    return checksum.getValue();
  }
}
