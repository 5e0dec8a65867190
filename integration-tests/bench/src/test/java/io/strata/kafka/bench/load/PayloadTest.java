package io.strata.kafka.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PayloadTest {

  @ParameterizedTest
  @ValueSource(doubles = {0, 0.25, 0.5, 0.9})
  void compressesAsStated(double compressibility) throws IOException {
    Payload payload = new Payload(Payload.pool(compressibility, 1), 1000, 3);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
      for (int i = 0; i < 1000; i++) {
        gzip.write(payload.next(i));
      }
    }

    assertThat(bytes.size() / 1_000_000.0)
        .isBetween(0.97 - compressibility, 1.06 - compressibility);
  }

  @Test
  void everyRecordHasItsTime() {
    Payload payload = new Payload(Payload.pool(1, 1), 8, 0);

    for (long time : List.of(0L, 1L, 1_700_000_000_000_000L)) {
      ByteBuffer value = ByteBuffer.wrap(payload.next(time));
      assertThat(Payload.intendedMicros(value)).isEqualTo(time);
      assertThat(value.remaining()).isEqualTo(8);
    }
  }

  /** A record larger than the pool, and records across its end. */
  @Test
  void thePoolGoesRound() {
    Payload payload = new Payload(Payload.pool(0, 1), 20_000_000, 0);

    byte[] value = payload.next(1);
    assertThat(value).hasSize(20_000_000);
    assertThat(java.util.Arrays.copyOfRange(value, 100, 1100))
        .isEqualTo(java.util.Arrays.copyOfRange(value, 100 + (8 << 20), 1100 + (8 << 20)));
  }
}
