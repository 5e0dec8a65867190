package io.strata.kafka.it.harness;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * A JVM of its own, started from the same JDK as the test, with its standard output and error in
 * one file. Not thread-safe.
 */
public final class JavaProcess implements AutoCloseable {

  private static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");

  private final Process process;
  private final String name;
  private final Path console;
  private final List<Path> logs;

  private JavaProcess(Process process, String name, Path console, List<Path> logs) {
    this.process = process;
    this.name = name;
    this.console = console;
    this.logs = logs;
  }

  /**
   * Starts {@code java <arguments>}.
   *
   * @param name what messages call the process
   * @param console receives standard output and error
   * @param furtherLogs files that the process itself writes; {@link #output()} includes them
   */
  public static JavaProcess start(
      String name, List<String> arguments, Path folder, Path console, Path... furtherLogs)
      throws IOException {
    return start(name, arguments, Map.of(), folder, console, furtherLogs);
  }

  /** As the other one, with additions to the environment. */
  public static JavaProcess start(
      String name,
      List<String> arguments,
      Map<String, String> environment,
      Path folder,
      Path console,
      Path... furtherLogs)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(JAVA.toString());
    command.addAll(arguments);
    Files.createDirectories(folder);
    Files.createDirectories(console.getParent());
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(console.toFile());
    builder.environment().keySet().removeIf(key -> key.startsWith("KAFKA_"));
    builder.environment().remove("CLASSPATH");
    builder.environment().putAll(environment);
    List<Path> logs = new ArrayList<>(List.of(furtherLogs));
    logs.add(console);
    return new JavaProcess(builder.start(), name, console, List.copyOf(logs));
  }

  /** Runs to the end. */
  public static Finished run(String name, List<String> arguments, Path folder, Duration limit)
      throws IOException, InterruptedException {
    Files.createDirectories(folder);
    Path console = Files.createTempFile(folder, name + "-", ".out");
    try (JavaProcess process = start(name, arguments, folder, console)) {
      return new Finished(name, process.awaitExit(limit), process.output());
    }
  }

  /** A process that has ended. */
  public record Finished(String name, int exitCode, String output) {

    /** Itself, when it ended with 0; else an error that shows the output. */
    public Finished orFail() {
      if (exitCode != 0) {
        throw new AssertionError(name + " ended with " + exitCode + ":\n" + tail(output));
      }
      return this;
    }
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  public long pid() {
    return process.pid();
  }

  public Path console() {
    return console;
  }

  /** Everything written so far: the process's own log files, then its console. */
  public String output() throws IOException {
    StringBuilder all = new StringBuilder();
    for (Path log : logs) {
      if (Files.exists(log)) {
        all.append(new String(Files.readAllBytes(log), StandardCharsets.UTF_8));
      }
    }
    return all.toString();
  }

  /** Waits for a line that the pattern finds. */
  public String awaitOutput(Pattern pattern, Duration limit)
      throws IOException, InterruptedException {
    Instant end = Instant.now().plus(limit);
    while (true) {
      boolean alive = isAlive();
      String text = output();
      Optional<String> line = text.lines().filter(pattern.asPredicate()).findAny();
      if (line.isPresent()) {
        return line.get();
      }
      if (!alive || Instant.now().isAfter(end)) {
        throw new AssertionError(
            name
                + (alive ? " did not write" : " ended without writing")
                + " a line with '"
                + pattern
                + "' within "
                + limit.toSeconds()
                + " s; its last lines:\n"
                + tail(text));
      }
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }

  /** Waits for the process to end by itself. */
  public int awaitExit(Duration limit) throws IOException, InterruptedException {
    if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
      signal("QUIT"); // its threads, to the console
      throw new AssertionError(
          name
              + " still ran after "
              + limit.toSeconds()
              + " s; its last lines:\n"
              + tail(output()));
    }
    return process.exitValue();
  }

  /** SIGTERM, and the wait for the end. */
  public int stop(Duration limit) throws IOException, InterruptedException {
    process.destroy();
    return awaitExit(limit);
  }

  /** SIGKILL. */
  public void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** Sends a signal: {@code STOP}, {@code CONT}. */
  void signal(String name) throws IOException, InterruptedException {
    Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(pid())).start();
    if (kill.waitFor() != 0) {
      throw new IOException("kill -" + name + " " + pid() + " ended with " + kill.exitValue());
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
    process.onExit().join();
  }

  public static String tail(String text) {
    List<String> lines = text.lines().toList();
    return String.join("\n", lines.subList(Math.max(0, lines.size() - 60), lines.size()));
  }
}
