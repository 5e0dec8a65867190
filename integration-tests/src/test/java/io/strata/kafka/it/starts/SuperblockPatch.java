package io.strata.kafka.it.starts;

import io.strata.kafka.layout.SuperblockLayout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;

/** Changes both copies of a pool's superblock, past Strata. */
final class SuperblockPatch {

  private static final long[] COPIES = {SuperblockLayout.FIRST_COPY, SuperblockLayout.SECOND_COPY};

  private SuperblockPatch() {}

  /** Has a pool say that it is of another layout version; all else stays as it is. */
  static void setVersion(Path pool, int version) throws IOException {
    for (long copy : COPIES) {
      setInt(pool, copy + SuperblockLayout.VERSION_OFFSET, version);
      byte[] header = new byte[SuperblockLayout.CHECKSUM_OFFSET];
      try (FileChannel file = FileChannel.open(pool, StandardOpenOption.READ)) {
        file.read(ByteBuffer.wrap(header), copy);
      }
      CRC32C checksum = new CRC32C();
      checksum.update(header);
      setInt(pool, copy + SuperblockLayout.CHECKSUM_OFFSET, (int) checksum.getValue());
    }
  }

  /** Changes a field, so that the checksums are wrong. */
  static void damage(Path pool) throws IOException {
    for (long copy : COPIES) {
      setInt(pool, copy + SuperblockLayout.CREATED_OFFSET, 42);
    }
  }

  private static void setInt(Path pool, long position, int value) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putInt(value).flip();
    try (FileChannel file = FileChannel.open(pool, StandardOpenOption.WRITE)) {
      file.write(bytes, position);
    }
  }
}
