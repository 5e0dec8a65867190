package io.strata.kafka.tier;

import static io.strata.kafka.layout.ChunkHeaderLayout.*;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.fuzz.FuzzTarget;
import io.strata.kafka.migration.remote.read.ChunkKey;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.zip.CRC32C;

/** What lies before a cached chunk, after an odd first byte with a checksum that fits. */
final class ChunkHeaderTarget implements FuzzTarget {

  @Override
  public String name() {
    return "chunk-header";
  }

  @Override
  public void run(byte[] input) {
    if (input.length == 0) {
      return;
    }
    byte[] header = Arrays.copyOf(Arrays.copyOfRange(input, 1, input.length), LENGTH);
    ByteBuffer bytes = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
    if ((input[0] & 1) == 1) {
      CRC32C crc = new CRC32C();
      crc.update(header, 0, CHECKSUM_OFFSET);
      bytes.putInt(CHECKSUM_OFFSET, (int) crc.getValue());
    }
    Optional<ChunkHeader> read = ChunkHeader.decode(bytes, 7, 4096);
    if (read.isPresent()) {
      assertThat(ChunkHeader.decode(read.get().encode(), 7, 4096)).isEqualTo(read);
      assertThat(read.get().length()).isNotNegative();
      assertThat(ChunkHeader.pages(read.get().length())).isPositive();
      assertThat(ChunkHeader.decode(bytes, 8, 4096)).isEmpty();
      assertThat(ChunkHeader.decode(bytes, 7, 8192)).isEmpty();
    }
  }

  @Override
  public List<byte[]> seeds() {
    ByteBuffer header = new ChunkHeader(new ChunkKey(1, 2, 3), 150_000, 9, 7, 4096).encode();
    byte[] even = new byte[LENGTH + 1];
    header.get(0, even, 1, LENGTH);
    byte[] odd = even.clone();
    odd[0] = 1;
    return List.of(even, odd);
  }
}
