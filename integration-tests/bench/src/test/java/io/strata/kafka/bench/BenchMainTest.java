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

  /** Each contender has a folder of its own, which is deleted and made again. */
  @Test
  void pairedDeletesNoFolderThatItHasNotMade() throws IOException {
    Path pool = Files.createDirectories(folder.resolve("work/strata")).resolve("hot.pool");
    Files.writeString(pool, "records");
    Path scenario =
        Files.writeString(
            folder.resolve("a.yaml"), "name: a\ntopics: {t: {}}\nphases: {p: {broker: kill}}\n");
    Path stock = Files.writeString(folder.resolve("stock.yaml"), "label: stock\n");
    Path strata = Files.writeString(folder.resolve("strata.yaml"), "label: strata\n");

    int code =
        run(
            "paired",
            scenario.toString(),
            "--contender=" + stock,
            "--contender=" + strata,
            "--kafka=" + folder,
            "--work=" + folder.resolve("work"),
            "--output=" + folder.resolve("out"));

    assertThat(err.toString())
        .contains("found " + pool.getParent() + ", which strata-bench has not made");
    assertThat(code).isEqualTo(2);
    assertThat(pool).hasContent("records");
  }

  @Test
  void noCommandIsAMistake() {
    assertThat(run()).isEqualTo(2);
    assertThat(err.toString()).contains("Missing command");
  }
}
