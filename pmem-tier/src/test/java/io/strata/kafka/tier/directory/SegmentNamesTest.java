package io.strata.kafka.tier.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SegmentNamesTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "00000000000000000000.log",
        "/data/t-0/00000000000000000042.log",
        "t-0/99999999999999999999.log.deleted",
        "../00000000000000000000.log.cleaned",
        "/00000000000000000000.log.swap"
      })
  void recognisesSegments(String path) {
    assertThat(SegmentNames.isSegmentName(path)).isTrue();
    assertThat(SegmentFiles.maybeSegment(Path.of(path))).isTrue();
  }

  @Test
  void anOffsetIsALong() {
    assertThat(SegmentNames.offsetOf("09223372036854775807.log")).hasValue(Long.MAX_VALUE);
    assertThat(SegmentNames.offsetOf("09223372036854775808.log")).isEmpty();
    assertThat(SegmentNames.offsetOf("99999999999999999999.log")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "/",
        ".log",
        "0000000000000000000.log",
        "000000000000000000000.log",
        "0000000000000000000a.log",
        "00000000000000000000.index",
        "00000000000000000000.log.swp",
        "00000000000000000000.log.deleted.txt",
        "00000000000000000000.logs",
        "00000000000000000000.log/leader-epoch-checkpoint",
        "/data/00000000000000000000.log.d/x",
        "00000000000000000000.log.deleted0",
        "٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠.log"
      })
  void declinesOthers(String path) {
    assertThat(SegmentNames.isSegmentName(path)).isFalse();
    assertThat(SegmentFiles.maybeSegment(Path.of(path))).isFalse();
  }
}
