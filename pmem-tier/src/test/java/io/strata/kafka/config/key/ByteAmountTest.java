package io.strata.kafka.config.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Amounts and rates as data sheets write them. */
class ByteAmountTest {

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "80000000, 80000000",
    "5B, 5",
    "1kB, 1000",
    "80MB, 80000000",
    "80 mb/s, 80000000",
    "1.5GB, 1500000000",
    "2TB, 2000000000000",
    "9PB, 9000000000000000",
    "1KiB, 1024",
    "500MiB, 524288000",
    "0.5 GiB/s, 536870912",
    "1TiB, 1099511627776",
    "1PiB, 1125899906842624",
    "1.9B, 1",
  })
  void parses(String text, long bytes) {
    assertThat(ByteAmount.parseRate(text)).isEqualTo(new ByteAmount(bytes));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "x", "-1", "80M", "80G/s", "80MB/m", "1e3", "1,5GB", "99999PB"})
  void refusesWhatIsNoAmount(String text) {
    assertThatThrownBy(() -> ByteAmount.parseRate(text))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @CsvSource({
    "64m, write MB or MiB",
    "1g, write GB or GiB",
    "4K, write KB or KiB",
    "80Mi, unknown unit 'Mi': B",
    "80MB/s, not a rate",
  })
  void saysWhatAnAmountNeeds(String text, String message) {
    assertThatThrownBy(() -> ByteAmount.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0 B",
    "999, 999 B",
    "1000, 1 kB",
    "80000000, 80 MB",
    "1550000, 1.6 MB",
    "999960000, 1 GB",
    "5e18, 5000 PB",
  })
  void prints(double bytes, String text) {
    assertThat(ByteAmount.format(bytes)).isEqualTo(text);
  }
}
