package io.strata.kafka.migration.remote;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ToldOnceTest {

  private final ToldOnce trouble = new ToldOnce();

  @Test
  void tellsWhatIsNew() {
    assertThat(trouble.isNew("unmounted")).isTrue();
    assertThat(trouble.isNew("unmounted")).isFalse();
    assertThat(trouble.isNew("read only")).isTrue();
    trouble.over();
    assertThat(trouble.isNew("read only")).isTrue();
  }
}
