package io.strata.kafka.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sizes as people write and read them. */
class ByteSizeTest {

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "65536, 65536",
    "65536B, 65536",
    "1k, 1024",
    "512m, 536870912",
    "512M, 536870912",
    "512MB, 536870912",
    "512MiB, 536870912",
    "512 MiB, 536870912",
    "4GiB, 4294967296",
    "1.5g, 1610612736",
    "0.5K, 512",
    "2T, 2199023255552",
    "3P, 3377699720527872",
  })
  void parses(String text, long bytes) {
    assertThat(ByteSize.parse(text)).isEqualTo(new ByteSize(bytes));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "x",
        "-1",
        "4 G i B",
        "4GG",
        "4Gi B",
        "1.5",
        "0.3k",
        "1e3",
        "999999999999999P"
      })
  void refusesWhatIsNoSize(String text) {
    assertThatThrownBy(() -> ByteSize.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("found '" + text + "'")
        .hasMessageContaining("4GiB");
  }

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
    assertThat(new ByteSize(bytes)).hasToString(text);
  }
}
