package io.strata.kafka.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Names of pools in metrics, of which no two read the same. */
class PoolLabelsTest {

  @Test
  void areThePaths() {
    assertThat(BeanName.poolTags(List.of("/b/x.pool", "/a/x.pool")))
        .containsExactly("/b/x.pool", "/a/x.pool");
  }

  @Test
  void differInMoreThanWhatAReporterWritesAsUnderscore() {
    List<String> paths = List.of("/p/a_b", "/p/a/b", "/p/a.b", "/p/a.b-2", "/p/ä/b");

    assertThat(BeanName.poolTags(paths)).doesNotHaveDuplicates().contains("/p/a.b");
    assertThat(
            BeanName.poolTags(paths).stream().map(label -> label.replaceAll("[^A-Za-z0-9]", "_")))
        .doesNotHaveDuplicates();
  }

  /** Whatever the order of the configuration, so that a series stays one pool's. */
  @Test
  void doNotDependOnTheOrder() {
    assertThat(BeanName.poolTags(List.of("/p/a_b", "/p/a.b")))
        .containsExactly("/p/a_b-2", "/p/a.b");
    assertThat(BeanName.poolTags(List.of("/p/a.b", "/p/a_b")))
        .containsExactly("/p/a.b", "/p/a_b-2");
  }
}
