package io.strata.kafka.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchMainTest {
  @TempDir private Path folder;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... arguments) {
    return BenchMain.run(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
  }

  @Test
  void keysAreAScenariosDefaults() {
    assertThat(run("keys")).isZero();
    assertThat(out.toString()).contains("record-size: 1KiB").contains("compressibility: 0");
  }

  @Test
  void helpIsThereForEachCommand() {
    for (String command : BenchMain.commandLine().getSubcommands().keySet()) {
      assertThat(run(command, "--help")).as(command).isZero();
    }
    assertThat(run("--version")).isZero();
    assertThat(out.toString()).contains("strata-bench development");
  }

  @Test
  void aWrongScenarioIsRefusedBeforeAnythingRuns() throws IOException {
    Path file = Files.writeString(folder.resolve("a.yaml"), "name: a\n");

    assertThat(run("run", file.toString())).isEqualTo(2);
    assertThat(err.toString()).contains("a.yaml: phases: found 'no phase', expected one at least");
  }

  /** The brokers of a cluster that the tool has not started are not its to stop. */
  @Test
  void onlyPairedRestartsABroker() throws IOException {
    Path file =
        Files.writeString(
            folder.resolve("a.yaml"), "name: a\ntopics: {t: {}}\nphases: {p: {broker: kill}}\n");

    assertThat(run("run", file.toString(), "-o", folder.resolve("out").toString())).isEqualTo(2);
    assertThat(err.toString())
        .contains("a: phases.p.broker: found 'kill', expected stays: only 'strata-bench paired'");
    assertThat(folder.resolve("out")).doesNotExist();
  }

  @Test
  void noCommandIsAMistake() {
    assertThat(run()).isEqualTo(2);
    assertThat(err.toString()).contains("Missing command");
  }
}
