package io.strata.kafka.migration.remote.store.layout;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** Checksums of chunks, and of the whole from the chunks', against the JDK's own. */
class ChunkChecksumsTest {

  private static final int CHUNK = 1 << 16;

  private static int crc32c(byte[] bytes, int from, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, from, length);
    return (int) crc.getValue();
  }

  @Test
  void areThoseOfTheBytes() {
    Random random = new Random(7);
    for (int length :
        new int[] {0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 5 * CHUNK + 12_345}) {
      byte[] bytes = new byte[length];
      random.nextBytes(bytes);
      ChunkChecksums.Builder builder = new ChunkChecksums.Builder(CHUNK);
      for (int at = 0; at < length; ) {
        int piece = Math.min(length - at, 1 + random.nextInt(2 * CHUNK));
        builder.update(ByteBuffer.wrap(bytes, at, piece));
        at += piece;
        assertThat(builder.whole()).as("%d of %d", at, length).isEqualTo(crc32c(bytes, 0, at));
      }
      assertThat(builder.bytes()).isEqualTo(length);
      assertThat(builder.whole()).isEqualTo(crc32c(bytes, 0, length));
      ChunkChecksums chunks = builder.build();
      assertThat(builder.whole()).as("when it is built").isEqualTo(crc32c(bytes, 0, length));
      assertThat(chunks.chunks()).isEqualTo((length + CHUNK - 1) / CHUNK);
      for (int chunk = 0; chunk < chunks.chunks(); chunk++) {
        assertThat(chunks.get(chunk))
            .isEqualTo(crc32c(bytes, chunk * CHUNK, chunks.bytesOf(chunk)));
      }
    }
  }
}
