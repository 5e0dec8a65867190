package io.strata.kafka.migration.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.migration.remote.DirectoryVisits.ReportOnce;
import org.junit.jupiter.api.Test;

class ReportOnceTest {

  private final ReportOnce trouble = new ReportOnce();

  @Test
  void tellsWhatIsNew() {
    assertThat(trouble.isNew("unmounted")).isTrue();
    assertThat(trouble.isNew("unmounted")).isFalse();
    assertThat(trouble.isNew("read only")).isTrue();
    trouble.over();
    assertThat(trouble.isNew("read only")).isTrue();
  }
}
