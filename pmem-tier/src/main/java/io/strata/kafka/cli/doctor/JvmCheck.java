package io.strata.kafka.cli.doctor;

import io.strata.kafka.cli.status.Surroundings;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.memory.calls.SystemCalls;
import java.io.BufferedInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Looks for what does not work in a JVM that has Strata's provider: archives of classes that were
 * recorded with it, and agents that use Unix domain sockets.
 */
final class JvmCheck extends DoctorCheck {
  private static final String ARCHIVES =
      "record the archive without the flag, see docs/install.md#class-data-archives";

  /** A class of the provider, as archives name it. */
  private static final String OWN_CLASS = "io/strata/kafka/nio/StrataFileSystemProvider";

  /** Has a JVM take classes from these files. */
  private static final Pattern USED =
      Pattern.compile("-XX:(?:SharedArchiveFile|AOTCache|AOTConfiguration)=(.+)");

  /** Has a JVM write an archive when it ends. */
  private static final Pattern RECORDED =
      Pattern.compile("-XX:(?:ArchiveClassesAtExit|AOTCacheOutput|AOTMode=record).*");

  /** Has a JVM write one when it ends, and use it at the next start. */
  private static final String RECORDED_AND_USED = "-XX:+AutoCreateSharedArchive";

  private static final Pattern UNIX_SOCKET =
      Pattern.compile("unix:/|unix\\.domain\\.socket=|dogstatsd\\.socket=");

  private static final List<String> JVM_VARIABLES =
      List.of(
          "KAFKA_OPTS",
          "KAFKA_JVM_PERFORMANCE_OPTS",
          "KAFKA_JMX_OPTS",
          "KAFKA_HEAP_OPTS",
          "JAVA_TOOL_OPTIONS",
          "JDK_JAVA_OPTIONS");

  private static final List<String> AGENT_VARIABLES =
      List.of(
          "DD_TRACE_AGENT_URL",
          "DD_DOGSTATSD_URL",
          "DD_DOGSTATSD_SOCKET",
          "DD_APM_RECEIVER_SOCKET",
          "OTEL_EXPORTER_OTLP_ENDPOINT");

  JvmCheck(Surroundings surroundings, BrokerProperties broker, OptionalLong process) {
    super(surroundings, broker, process);
  }

  @Override
  List<Diagnosis> run() throws IOException {
    if (broker.hasRemoteTierAlone()) {
      return found; // It has no provider.
    }
    List<String> options = options();
    archives(options);
    unixSockets(options);
    systemCalls(options);
    return found;
  }

  /** The running broker's arguments, or what this shell would give to one. */
  private List<String> options() {
    Stream<String> variables =
        JVM_VARIABLES.stream()
            .map(name -> surroundings.environment().getOrDefault(name, ""))
            .flatMap(text -> Arrays.stream(text.split("\\s+")));
    return (process.isPresent()
            ? surroundings.arguments(process.getAsLong()).orElse(List.of()).stream()
            : variables)
        .toList();
  }

  private void archives(List<String> options) throws IOException {
    if (options.contains(RECORDED_AND_USED)) {
      fail(
          "class archive",
          "%s has the JVM record Strata's provider when it ends, and not start any more"
              .formatted(RECORDED_AND_USED),
          "remove it; " + ARCHIVES);
      return;
    }
    for (String option : options) {
      if (RECORDED.matcher(option).matches()) {
        warn(
            "class archive",
            option + " records Strata's provider: a JVM with that archive does not start",
            ARCHIVES);
      }
    }
    for (Path archive : used(options)) {
      if (hasProvider(archive)) {
        fail(
            "class archive",
            archive + " was recorded with Strata's provider: a JVM with it does not start",
            "remove the option; " + ARCHIVES);
      } else {
        ok("class archive", archive + " was recorded without Strata's provider");
      }
    }
  }

  /** The files that can be read: the JVM does without the others. */
  private static List<Path> used(List<String> options) {
    List<Path> files = new ArrayList<>();
    options.stream()
        .map(USED::matcher)
        .filter(matcher -> matcher.matches())
        .flatMap(matcher -> Arrays.stream(matcher.group(1).split(File.pathSeparator)))
        .map(Path::of)
        .filter(file -> Files.isRegularFile(file) && Files.isReadable(file))
        .forEach(files::add);
    return files;
  }

  /** Searches the file for the class's name, without holding all of it. */
  private static boolean hasProvider(Path archive) throws IOException {
    byte[] piece = new byte[1 << 16];
    String tail = "";
    try (InputStream in = new BufferedInputStream(Files.newInputStream(archive))) {
      for (int read = in.read(piece); read >= 0; read = in.read(piece)) {
        String text = tail + new String(piece, 0, read, StandardCharsets.ISO_8859_1);
        if (text.contains(OWN_CLASS)) {
          return true;
        }
        tail = text.substring(Math.max(0, text.length() - OWN_CLASS.length()));
      }
    }
    return false;
  }

  private void unixSockets(List<String> options) {
    Stream<String> variables =
        AGENT_VARIABLES.stream()
            .filter(surroundings.environment()::containsKey)
            .map(name -> name + "=" + surroundings.environment().get(name));
    Optional<String> asked =
        Stream.concat(options.stream(), variables)
            .filter(text -> UNIX_SOCKET.matcher(text).find() || text.matches("DD_\\w+_SOCKET=.+"))
            .findFirst();
    asked.ifPresent(
        option ->
            warn(
                "unix domain sockets",
                "%s has an agent use one, which no JVM can with a replaced file system provider"
                    .formatted(option),
                "give the agent a TCP address (http://host:port)"));
    Path datadog = surroundings.root().resolve("var/run/datadog/apm.socket");
    if (asked.isEmpty()
        && options.stream().anyMatch(option -> option.matches("-javaagent:.*dd-java-agent.*"))
        && options.stream().noneMatch(option -> option.startsWith("-Ddd.trace.agent.url="))
        && !surroundings.environment().containsKey("DD_TRACE_AGENT_URL")
        && Files.exists(datadog)) {
      warn(
          "unix domain sockets",
          "Datadog's agent uses %s by itself, which no JVM can with a replaced file system provider"
              .formatted(datadog),
          "give it a TCP address: -Ddd.trace.agent.url=http://localhost:8126");
    }
  }

  /** Tried in this JVM, which has the broker's user and directories. */
  private void systemCalls(List<String> options) {
    if (options.stream().noneMatch(option -> option.startsWith("-Djna.tmpdir="))) {
      SystemCalls.missing().ifPresent(why -> warn("system calls", why, "add -Djna.tmpdir"));
    }
  }
}
