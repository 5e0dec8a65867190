package io.strata.kafka.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.StrataConfig;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code strata doctor}. */
@Command(
    name = "doctor",
    description = {
      """
      Says, before a restart, whether the broker would start and keep its promises: keys, flag, \
      jar, Kafka's version, log directories, pools, segments, space and limits. Reads only, and \
      works while the broker runs. Run it as the user that the broker runs as, with its \
      environment.\
      """,
      "",
      "Exit code 1 if something would keep the broker from starting, or breaks a promise.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  strata doctor --config server.properties",
      "  strata doctor --config server.properties --libs /opt/kafka/libs --json"
    },
    sortOptions = false,
    mixinStandardHelpOptions = true)
final class DoctorCommand implements Callable<Integer> {
  // Set by picocli, before anything is run.
  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Mixin private final ConfigOption config = new ConfigOption();

  @Option(
      names = "--libs",
      paramLabel = "DIRECTORY",
      description = "Kafka's libs; the directory of this command's jar by default.")
  private @Nullable Path libs;

  @Mixin private final JsonOption json = new JsonOption();

  private final Surroundings surroundings;

  DoctorCommand() {
    this(Surroundings.ofThisProcess());
  }

  DoctorCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() throws Exception {
    List<Diagnosis> found = diagnose(config.require());
    PrintWriter out = spec.commandLine().getOut();
    if (json.given()) {
      print(found, out);
    } else {
      found.forEach(diagnosis -> print(diagnosis, out));
      out.println();
      out.println(summary(found));
    }
    return (count(found, Diagnosis.Verdict.FAIL) == 0 ? ExitCode.OK : ExitCode.FINDINGS).code();
  }

  private List<Diagnosis> diagnose(BrokerProperties broker) throws IOException {
    if (broker.isControllerAlone()) {
      return List.of(
          Diagnosis.ok("configuration", "the node is only a controller: Strata leaves it alone"));
    }
    Optional<StrataConfig> strata = broker.strataConfig().config();
    OptionalLong process =
        strata.isPresent()
            ? BrokerConnection.holderOf(strata.get().pools(), surroundings)
            : OptionalLong.empty();
    List<Diagnosis> found =
        new ArrayList<>(
            InstallationCheck.of(surroundings, broker, process, Optional.ofNullable(libs)));
    if (strata.isPresent()) {
      found.addAll(StorageCheck.of(surroundings, broker, strata.get(), process));
    }
    process.ifPresent(
        pid ->
            found.add(
                Diagnosis.ok(
                    "broker",
                    "runs as process %d; 'strata status' shows its health".formatted(pid))));
    return found;
  }

  private static void print(Diagnosis diagnosis, PrintWriter out) {
    out.println("%-4s  %s: %s".formatted(diagnosis.verdict(), diagnosis.what(), diagnosis.found()));
    if (!diagnosis.remedy().isEmpty()) {
      out.println("      -> " + diagnosis.remedy());
    }
  }

  private static String summary(List<Diagnosis> found) {
    long failed = count(found, Diagnosis.Verdict.FAIL);
    long warned = count(found, Diagnosis.Verdict.WARN);
    return "%d looked at: %d failed, %d warned".formatted(found.size(), failed, warned);
  }

  private static long count(List<Diagnosis> found, Diagnosis.Verdict verdict) {
    return found.stream().filter(diagnosis -> diagnosis.verdict() == verdict).count();
  }

  private static void print(List<Diagnosis> found, PrintWriter out) {
    ObjectNode document = Json.object();
    ArrayNode checks = document.putArray("checks");
    for (Diagnosis diagnosis : found) {
      ObjectNode check = checks.addObject();
      check.put("verdict", diagnosis.verdict().name().toLowerCase(Locale.ROOT));
      check.put("what", diagnosis.what());
      check.put("found", diagnosis.found());
      check.put("remedy", diagnosis.remedy());
    }
    document.put("failed", count(found, Diagnosis.Verdict.FAIL));
    document.put("warned", count(found, Diagnosis.Verdict.WARN));
    Json.print(document, out);
  }
}
