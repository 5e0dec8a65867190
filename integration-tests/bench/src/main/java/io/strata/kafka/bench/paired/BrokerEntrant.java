package io.strata.kafka.bench.paired;

import io.strata.kafka.bench.agent.ToolVersion;
import io.strata.kafka.bench.result.RunResult;
import io.strata.kafka.bench.run.Coordinator;
import io.strata.kafka.bench.scenario.Scenario;
import io.strata.kafka.bench.scenario.ScenarioException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A contender: for each run a broker in an empty folder, which is deleted after it. After a failure
 * the folder stays, and what then fails in stopping and cleaning up is shown beside it.
 */
public final class BrokerEntrant implements Entrant {
  private static final long COMMAND_MINUTES = 10;

  /** Is in each folder that this has made, and may delete. */
  private static final String MARKER = ".strata-bench";

  private final Contender first;
  private final Contender contender;
  private final Path kafka;
  private final Path folder;
  private final BiFunction<String, String, Scenario> scenario;
  private final MachineLoad load;
  private final Consumer<String> progress;

  /**
   * Creates one.
   *
   * @param first what the broker is until the scenario first restarts or kills it
   * @param contender what it is from then on
   * @param kafka the folder of Kafka's jars
   * @param folder its own; deleted and created again
   * @param scenario reads the scenario for an address of the broker and one of its JMX
   */
  public BrokerEntrant(
      Contender first,
      Contender contender,
      Path kafka,
      Path folder,
      BiFunction<String, String, Scenario> scenario,
      MachineLoad load,
      Consumer<String> progress) {
    this.first = first;
    this.contender = contender;
    this.kafka = kafka;
    this.folder = folder;
    this.scenario = scenario;
    this.load = load;
    this.progress = progress;
  }

  /** Refuses a folder that this has not made: it may be a pool's, or a live broker's. */
  public static void refuseForeign(Path folder) {
    if (Files.exists(folder) && !Files.exists(folder.resolve(MARKER))) {
      throw new ScenarioException(
          "--work: found %s, which strata-bench has not made, expected none, since it is deleted: name another folder"
              .formatted(folder));
    }
  }

  @Override
  public String label() {
    return contender.label();
  }

  @Override
  public Attempt run(int round) {
    List<String> failures = new ArrayList<>();
    Optional<RunResult> result = Optional.empty();
    Optional<BrokerProcess> started = Optional.empty();
    double others = 0;
    try {
      delete();
      Files.createDirectories(folder);
      Files.createFile(folder.resolve(MARKER));
      shell("before", commands(Contender::before));
      BrokerProcess broker = new BrokerProcess(first, contender, kafka, folder);
      started = Optional.of(broker);
      broker.startFirst();
      Scenario own = scenario.apply(broker.bootstrap(), broker.jmx());
      long begin = System.nanoTime();
      double busy = load.busySeconds() - ownSeconds(broker);
      result = Optional.of(new Coordinator(own, label(), progress, Optional.of(broker)).run());
      others =
          (load.busySeconds() - ownSeconds(broker) - busy) / ((System.nanoTime() - begin) / 1e9);
    } catch (IOException e) {
      failures.add(String.valueOf(e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      failures.add("interrupted");
    }
    failures.addAll(cleanUp(started, failures.isEmpty() && isGood(result)));
    RunResult known = result.orElseGet(this::nothing).of(contender.facts());
    return new Attempt(known.failed(failures), Math.max(0, others));
  }

  private static boolean isGood(Optional<RunResult> result) {
    return result.isPresent() && result.get().hasSucceeded();
  }

  /** The commands of all that the broker is in one round. */
  private List<String> commands(Function<Contender, List<String>> which) {
    return Stream.of(first, contender)
        .distinct()
        .flatMap(each -> which.apply(each).stream())
        .toList();
  }

  /** Returns what this program and the broker's processes have used. */
  private double ownSeconds(BrokerProcess broker) throws IOException {
    return broker.processorSeconds()
        + load.endedSeconds()
        + ProcessHandle.current().info().totalCpuDuration().map(Duration::toNanos).orElse(0L) / 1e9;
  }

  /** Stops and cleans up; each step whatever the one before has done. */
  private List<String> cleanUp(Optional<BrokerProcess> broker, boolean deletes) {
    List<String> failures = new ArrayList<>();
    attempt(
        failures,
        () -> {
          if (broker.isPresent()) {
            broker.get().stop();
          }
        });
    attempt(failures, () -> shell("after", commands(Contender::after)));
    if (deletes && failures.isEmpty()) {
      attempt(failures, this::delete);
    }
    return failures;
  }

  private interface Step {
    void run() throws IOException, InterruptedException;
  }

  private static void attempt(List<String> failures, Step step) {
    try {
      step.run();
    } catch (IOException e) {
      failures.add("cleaning up: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      failures.add("cleaning up: interrupted");
    }
  }

  private void shell(String what, List<String> commands) throws IOException, InterruptedException {
    for (String command : commands) {
      Process process =
          new ProcessBuilder("/bin/sh", "-c", command)
              .directory(folder.toFile())
              .redirectErrorStream(true)
              .redirectOutput(folder.resolve(what + ".out").toFile())
              .start();
      if (!process.waitFor(COMMAND_MINUTES, TimeUnit.MINUTES) || process.exitValue() != 0) {
        String end = process.isAlive() ? "did not end" : "ended with " + process.exitValue();
        process.destroyForcibly();
        throw new IOException(
            "%s: '%s' %s: %s"
                .formatted(what, command, end, Files.readString(folder.resolve(what + ".out"))));
      }
    }
  }

  private void delete() throws IOException {
    refuseForeign(folder);
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  /** The result of a broker that did not start. */
  private RunResult nothing() {
    Scenario own = scenario.apply("none:1", "none:1");
    return new RunResult(
        RunResult.FORMAT,
        ToolVersion.text(),
        label(),
        own.name(),
        own.tree(),
        Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
        Map.of(),
        List.of(),
        List.of(),
        "",
        List.of());
  }
}
