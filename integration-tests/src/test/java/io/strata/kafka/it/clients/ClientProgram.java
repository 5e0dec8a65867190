package io.strata.kafka.it.clients;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.strata.kafka.it.harness.JavaProcess;
import io.strata.kafka.it.harness.TestMount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A client in another language: one of the programs in {@code integration-tests/clients}. */
final class ClientProgram implements RecordClient {

  private static final Duration LIMIT = Duration.ofMinutes(10);

  private final Path command;
  private final Path folder;
  private final ClientScript.Dialect dialect;
  private final String version;

  private ClientProgram(Path command, Path folder, ClientScript.Dialect dialect, String version) {
    this.command = command;
    this.folder = folder;
    this.dialect = dialect;
    this.version = version;
  }

  /**
   * Installs or builds it, unless that has been done. Where it cannot be, the test is skipped.
   *
   * @param name its folder's
   * @param folder keeps what it reads and writes
   */
  static ClientProgram build(String name, Path folder, ClientScript.Dialect dialect)
      throws IOException, InterruptedException {
    String output =
        TestMount.output(
            ClientLibraries.SOURCES.resolve("build.sh").toString(),
            name,
            ClientLibraries.BUILT.toString());
    String version = output.lines().reduce((first, last) -> last).orElseThrow();
    return new ClientProgram(
        ClientLibraries.BUILT.resolve(name).resolve("client"), folder, dialect, version);
  }

  @Override
  public String version() {
    return version;
  }

  @Override
  public ClientScript.Dialect dialect() {
    return dialect;
  }

  @Override
  public void produce(
      String bootstrap,
      Target target,
      String codec,
      Optional<String> transactionalId,
      List<String> lines)
      throws IOException, InterruptedException {
    Path script = Files.createTempFile(folder, "script-", ".txt");
    Files.write(script, lines, UTF_8);
    List<String> arguments =
        new ArrayList<>(
            List.of("produce", bootstrap, target.topic(), "" + target.partition(), codec));
    transactionalId.ifPresent(arguments::add);
    Path unused =
        run(
            folder,
            script,
            Stream.concat(Stream.of(command.toString()), arguments.stream()).toList());
  }

  @Override
  public Map<Integer, List<String>> consume(
      String bootstrap, String topic, String isolation, Map<Integer, Long> lastOffsets)
      throws IOException, InterruptedException {
    List<String> arguments =
        new ArrayList<>(List.of(command.toString(), "consume", bootstrap, topic, isolation));
    lastOffsets.forEach((partition, offset) -> arguments.add(partition + ":" + offset));
    Map<Integer, List<String>> read = new TreeMap<>();
    try (Stream<String> lines = Files.lines(run(folder, Path.of("/dev/null"), arguments))) {
      lines.forEach(
          line -> {
            int tab = line.indexOf('\t');
            int partition = Integer.parseInt(line.substring(0, tab));
            read.computeIfAbsent(partition, p -> new ArrayList<>()).add(line.substring(tab + 1));
          });
    }
    return read;
  }

  /** Runs a command to its end, and returns the file with what it wrote to standard output. */
  static Path run(Path folder, Path input, List<String> command)
      throws IOException, InterruptedException {
    Path output = Files.createTempFile(folder, "output-", ".txt");
    Path errors = Files.createTempFile(folder, "errors-", ".txt");
    Process process =
        new ProcessBuilder(command)
            .redirectInput(input.toFile())
            .redirectOutput(output.toFile())
            .redirectError(errors.toFile())
            .start();
    try {
      boolean ended = process.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
      if (!ended || process.exitValue() != 0) {
        throw new AssertionError(
            "%s %s:%n%s"
                .formatted(
                    command,
                    ended ? "ended with " + process.exitValue() : "did not end",
                    JavaProcess.tail(Files.readString(errors))));
      }
    } finally {
      process.destroyForcibly();
    }
    return output;
  }
}
