package io.strata.kafka.cli.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sizes as people read them. */
class ByteSizeTest {

  @ParameterizedTest
  @CsvSource({
    "0, 0 B",
    "1023, 1023 B",
    "1024, 1 KiB",
    "1536, 1.5 KiB",
    "65536, 64 KiB",
    "1048575, 1 MiB",
    "1048576, 1 MiB",
    "503421338, 480.1 MiB",
    "4294967296, 4 GiB",
    "9223372036854775807, 8192 PiB",
  })
  void prints(long bytes, String text) {
    assertThat(ByteSize.format(bytes)).isEqualTo(text);
  }
}
