package io.strata.kafka.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.strata.kafka.cli.terminal.Durations;
import io.strata.kafka.cli.terminal.ExitCode;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The arithmetic of bursts on the command line. */
class PlanCommandTest {

  @Test
  void showsWhatFollowsWithItsFormula() {
    assertThat(
            CommandLineRun.of(
                    "plan", "--ingest", "5GB/s", "--reserve", "500GB", "--drain", "500MB/s")
                .succeeds()
                .out())
        .containsPattern("burst +1 min 40 s +reserve / ingest")
        .containsPattern("pause +16 min 40 s +reserve / drain")
        .containsPattern("reserve +500 GB");
  }

  @Test
  void jsonHasThePlainNumbers() throws IOException {
    JsonNode json =
        CommandLineRun.of(
                "plan",
                "--pool",
                "1TB",
                "--threshold",
                "0.5",
                "--ingest",
                "400MB/s",
                "--drain",
                "400MB/s",
                "--json")
            .succeeds()
            .json();

    assertThat(json.get("reserve").asDouble()).isEqualTo(500e9);
    assertThat(json.get("burst").asDouble()).isEqualTo(1250);
    assertThat(json.get("burst-while-draining").isNull()).as("for ever").isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "plan",
        "plan --ingest 5GB/s",
        "plan --ingest fast",
        "plan --ingest 5G --reserve 1GB",
        "plan --ingest 0 --reserve 1GB",
        "plan --reserve 2GB --pool 1GB --ingest 1GB",
        "plan --threshold 2 --pool 1GB",
        "plan --burst soon --ingest 1GB --reserve 1GB",
      })
  void refusesWhatCannotBeComputed(String line) {
    CommandLineRun run = CommandLineRun.of((Object[]) line.split(" ")).fails(ExitCode.USAGE);

    assertThat(run.err()).contains("expected");
  }

  @ParameterizedTest
  @CsvSource({
    "0.24, 0.2 s",
    "9.94, 9.9 s",
    "59.4, 59 s",
    "60, 1 min",
    "100, 1 min 40 s",
    "3600, 1 h",
    "5400, 1 h 30 min",
    "172800, 2 d",
    "180000, 2 d 2 h",
    "Infinity, for ever",
  })
  void writesTimes(double seconds, String text) {
    assertThat(Durations.format(seconds)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({
    "90, 90",
    "90s, 90",
    "1.5 h, 5400",
    "10m, 600",
    "10min, 600",
    "2d, 172800",
    "5ms, 0.005"
  })
  void readsTimes(String text, double seconds) throws Exception {
    assertThat(Durations.parse("--burst", text)).isEqualTo(seconds);
  }
}
