package io.strata.kafka.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.config.BrokerProperties;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A broker and Strata that have read different files. */
class SameConfigurationTest {

  private static final String SAME_FILE = ": give both the same file (-Dstrata.config=)";

  private final Map<String, String> kafka =
      new HashMap<>(
          Map.of(
              "node.id", "1", "log.dirs", "/data/a,/data/b", "strata.pools", "/p", "other", "x"));
  private final Map<String, String> strata = new HashMap<>(kafka);

  private Optional<String> difference() {
    return BrokerProperties.of("/etc/file", strata).difference(BrokerProperties.of("Kafka", kafka));
  }

  @Test
  void theSameMeaningIsNoDifference() {
    // As Kafka hands it over.
    kafka.put("broker.id", "1");
    kafka.put("strata.pools", " /p ");
    kafka.put("log.dirs", "/data/a, /data/../data/b");
    strata.put("strata.topics.exclude", "");
    strata.put("other", "y");

    assertThat(difference()).isEmpty();
  }

  @Test
  void aKeyOfEitherIsCompared() {
    kafka.put("strata.migration.threshold", "0.3");
    assertThat(difference())
        .contains(
            "strata.migration.threshold: the broker has '0.3', Strata read nothing from /etc/file"
                + SAME_FILE);
    kafka.remove("strata.migration.threshold");

    // It would be the default as soon as anything is changed on the live broker.
    strata.put("strata.migration.threshold", "0.4");
    assertThat(difference())
        .contains(
            "strata.migration.threshold: the broker has nothing, Strata read '0.4' from /etc/file"
                + SAME_FILE);
  }

  /** By their meaning: a key may be absent, or have another name. */
  @Test
  void soAreTheBrokerAndItsLogDirectories() {
    strata.put("node.id", "2");
    assertThat(difference().orElse("")).startsWith("node.id: the broker has");
    strata.put("node.id", "1");
    strata.put("metadata.log.dir", "/meta");
    assertThat(difference().orElse(""))
        .startsWith("metadata.log.dir: the broker has '/data/a', Strata read '/meta' from");
    strata.remove("metadata.log.dir");
    kafka.remove("log.dirs");
    kafka.put("log.dir", "/data/c");
    assertThat(difference().orElse(""))
        .startsWith("log.dirs: the broker has '[/data/c]', Strata read '[/data/a, /data/b]' from");
  }
}
