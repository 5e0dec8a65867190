package io.strata.kafka.broker;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which versions of Kafka a broker warns of, and that the docs and the tests name the others. */
class TestedKafkaTest {

  private static final Pattern ROW = Pattern.compile("(?m)^\\| (\\d+\\.\\d+\\.\\d+) \\|");

  @ParameterizedTest
  @ValueSource(strings = {"3.9.2", "3.9.0", "4.0.1", "4.3.1", "4.3.9", "4.4.0", "4.2.0-rc1"})
  void aTestedMinorVersionIsNotWarnedOf(String version) {
    assertThat(KafkaVersions.untested(version)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"3.8.1", "4.5.0", "4.40.1", "5.0.0", "unknown", ""})
  void anyOtherIs(String version) {
    assertThat(KafkaVersions.untested(version))
        .get()
        .asString()
        .startsWith("found Kafka %s, ".formatted(version))
        .endsWith(String.join(", ", KafkaVersions.TESTED));
  }

  @Test
  void docsAndTestsNameTheSameVersions() throws IOException {
    String readme = Files.readString(Path.of("../README.md"));
    String install = Files.readString(Path.of("../docs/install.md"));
    String tests =
        Files.readString(
            Path.of(
                "../integration-tests/src/test/java/io/strata/kafka/it/harness/KafkaVersion.java"));

    for (String version : KafkaVersions.TESTED) {
      assertThat(readme).contains(version);
    }
    assertThat(ROW.matcher(install).results().map(row -> row.group(1)))
        .as(
            "the table in docs/install.md: integration-tests/verify.sh --part versions"
                + " -Dwrite=true")
        .containsExactlyElementsOf(KafkaVersions.TESTED);
    for (String version : KafkaVersions.TESTED.subList(0, KafkaVersions.TESTED.size() - 1)) {
      assertThat(tests).contains('"' + version + '"');
    }
  }
}
