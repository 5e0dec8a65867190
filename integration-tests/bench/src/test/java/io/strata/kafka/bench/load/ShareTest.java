package io.strata.kafka.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShareTest {

  @ParameterizedTest
  @CsvSource({"10,3", "2,5", "1000000,7", "0,1"})
  void partsAddUp(long total, int clients) {
    assertThat(IntStream.range(0, clients).mapToLong(i -> new Share(i, clients).of(total)).sum())
        .isEqualTo(total);
  }

  @ParameterizedTest
  @CsvSource({"100,,100", ",1000,10", ",1001,11", "5,1000,5", "100,1000,10"})
  void theSmallerLimitCounts(Long records, Long bytes, long expected) {
    assertThat(
            new Share(0, 1)
                .records(
                    records == null ? OptionalLong.empty() : OptionalLong.of(records),
                    bytes == null ? OptionalLong.empty() : OptionalLong.of(bytes),
                    100))
        .isEqualTo(expected);
  }
}
