package io.strata.kafka.cli.doctor;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.cli.doctor.DoctorCheck.Diagnosis;
import io.strata.kafka.cli.doctor.DoctorCheck.Verdict;
import io.strata.kafka.cli.status.Surroundings;
import io.strata.kafka.cli.terminal.ConfigOption;
import io.strata.kafka.cli.terminal.ExitCode;
import io.strata.kafka.cli.terminal.StrataCommand;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.StrataConfig;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code strata doctor}. */
@Command(
    name = "doctor",
    description = {
      """
      Says, before a restart, whether the broker would start and keep its promises: keys, flag, \
      jar, Kafka's version, the JVM's options, log directories, pools, segments, space and \
      limits. Reads only, and works while the broker runs. Run it as the user that the broker \
      runs as, with its environment.\
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
    })
public final class DoctorCommand extends StrataCommand {
  @Mixin private final ConfigOption config = new ConfigOption();

  @Option(
      names = "--libs",
      paramLabel = "DIRECTORY",
      description = "Kafka's libs; the directory of this command's jar by default.")
  private @Nullable Path libs;

  private final Surroundings surroundings;

  DoctorCommand() {
    this(Surroundings.ofThisProcess());
  }

  DoctorCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  protected ExitCode run() throws Exception {
    List<Diagnosis> found = diagnose(config.require());
    print(document -> describe(found, document), out -> print(found, out));
    return count(found, Verdict.FAIL) == 0 ? ExitCode.OK : ExitCode.FINDINGS;
  }

  private List<Diagnosis> diagnose(BrokerProperties broker) throws IOException {
    if (broker.isControllerAlone()) {
      String alone = "the node is only a controller: Strata leaves it alone";
      return List.of(new Diagnosis(Verdict.OK, "configuration", alone, ""));
    }
    Optional<StrataConfig> strata = broker.strataConfig().config();
    OptionalLong process =
        strata.isPresent() ? surroundings.writerOf(strata.get().pools()) : OptionalLong.empty();
    InstallationCheck installation =
        new InstallationCheck(surroundings, broker, process, Optional.ofNullable(libs));
    List<Diagnosis> found = installation.run();
    ClusterCheck cluster = new ClusterCheck(installation);
    found.addAll(cluster.remote());
    if (strata.isPresent()) {
      found.addAll(new StorageCheck(surroundings, broker, strata.get(), process).run());
    }
    found.addAll(cluster.stored(strata));
    if (process.isPresent()) {
      String runs = "runs as process %d; 'strata status' shows its health";
      found.add(new Diagnosis(Verdict.OK, "broker", runs.formatted(process.getAsLong()), ""));
    }
    return found;
  }

  private static void print(List<Diagnosis> found, PrintWriter out) {
    for (Diagnosis each : found) {
      out.printf("%-4s  %s: %s%n", each.verdict(), each.what(), each.found());
      if (!each.remedy().isEmpty()) {
        out.println("      -> " + each.remedy());
      }
    }
    out.println();
    out.printf(
        "%d looked at: %d failed, %d warned%n",
        found.size(), count(found, Verdict.FAIL), count(found, Verdict.WARN));
  }

  private static long count(List<Diagnosis> found, Verdict verdict) {
    return found.stream().filter(diagnosis -> diagnosis.verdict() == verdict).count();
  }

  private static void describe(List<Diagnosis> found, ObjectNode document) {
    ArrayNode checks = document.putArray("checks");
    for (Diagnosis diagnosis : found) {
      ObjectNode check = checks.addObject();
      check.put("verdict", diagnosis.verdict().name().toLowerCase(Locale.ROOT));
      check.put("what", diagnosis.what());
      check.put("found", diagnosis.found());
      check.put("remedy", diagnosis.remedy());
    }
    document.put("failed", count(found, Verdict.FAIL));
    document.put("warned", count(found, Verdict.WARN));
  }
}
