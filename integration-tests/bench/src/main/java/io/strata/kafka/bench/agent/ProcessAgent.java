package io.strata.kafka.bench.agent;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Clients in another process, here or on another host. There this program copies its own jar to a
 * temporary directory, and removes it at the end: the host needs a JVM and an ssh server.
 */
final class ProcessAgent implements Agent {
  private static final String MAIN = "io.strata.kafka.bench.BenchMain";
  private static final long LIMIT_SECONDS = 60;

  private final String name;
  private final Process process;
  private final BufferedWriter orders;
  private volatile boolean closed;

  private ProcessAgent(String name, List<String> command, Consumer<AgentReport> reports)
      throws IOException {
    this.name = name;
    process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    orders = process.outputWriter(StandardCharsets.UTF_8);
    Thread reader = new Thread(() -> read(reports), "bench-agent-" + name);
    reader.setDaemon(true);
    reader.start();
  }

  /** A process on this host, with this JVM's class path. */
  static ProcessAgent here(Consumer<AgentReport> reports) throws IOException {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String path = System.getProperty("java.class.path");
    return new ProcessAgent("process", List.of(java, "-cp", path, MAIN, "agent"), reports);
  }

  /** A process on another host. */
  static ProcessAgent at(String host, List<String> ssh, String java, Consumer<AgentReport> reports)
      throws IOException {
    String folder = copy(host, ssh, ownJar());
    List<String> command = new ArrayList<>(ssh);
    command.add(host);
    command.add(
        "%s -cp %s/strata-bench.jar %s agent; rm -rf %s".formatted(java, folder, MAIN, folder));
    return new ProcessAgent(host, command, reports);
  }

  /** Copies the jar; returns the folder that it is in there. */
  private static String copy(String host, List<String> ssh, Path jar) throws IOException {
    List<String> command = new ArrayList<>(ssh);
    command.add(host);
    command.add(
        "d=$(mktemp -d /tmp/strata-bench-XXXXXXXX) && cat > $d/strata-bench.jar && echo $d");
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try (OutputStream to = process.getOutputStream()) {
      Files.copy(jar, to);
    } catch (IOException e) {
      throw new IOException(
          "%s: cannot copy %s there by '%s': %s"
              .formatted(host, jar, String.join(" ", ssh), e.getMessage()),
          e);
    }
    try (InputStream from = process.getInputStream()) {
      String folder = new String(from.readAllBytes(), StandardCharsets.UTF_8).strip();
      if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)
          || process.exitValue() != 0
          || !folder.matches("/tmp/strata-bench-[A-Za-z0-9]+")) {
        throw new IOException(
            "%s: found exit code %s and '%s' of '%s', expected a temporary directory; try the command by hand"
                .formatted(
                    host,
                    process.isAlive() ? "none" : process.exitValue(),
                    folder,
                    String.join(" ", command)));
      }
      return folder;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } finally {
      process.destroy();
    }
  }

  private static Path ownJar() throws IOException {
    String path = System.getProperty("java.class.path");
    if (path.contains(File.pathSeparator) || !path.endsWith(".jar")) {
      throw new IOException(
          "found the class path %s, expected strata-bench's jar alone: other hosts get it copied"
              .formatted(path));
    }
    return Path.of(path);
  }

  private void read(Consumer<AgentReport> reports) {
    try (BufferedReader in =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      String line = in.readLine();
      while (line != null) {
        reports.accept(AgentLines.report(line));
        line = in.readLine();
      }
      if (!closed) {
        reports.accept(new AgentReport.Failed("the agent has ended"));
      }
    } catch (IOException e) {
      if (!closed) {
        reports.accept(new AgentReport.Failed("the agent's reports cannot be read: " + e));
      }
    }
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void give(AgentOrder order) throws IOException {
    orders.write(AgentLines.line(order));
    orders.newLine();
    orders.flush();
  }

  @Override
  public void close() {
    closed = true;
    try {
      // The end of its input ends it.
      orders.close();
      if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (IOException e) {
      process.destroyForcibly();
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
