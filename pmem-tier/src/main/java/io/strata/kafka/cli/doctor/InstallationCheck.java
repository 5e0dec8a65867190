package io.strata.kafka.cli.doctor;

import io.strata.kafka.broker.ClassCopies;
import io.strata.kafka.broker.KafkaVersions;
import io.strata.kafka.cli.doctor.DoctorCheck.Diagnosis;
import io.strata.kafka.cli.doctor.DoctorCheck.Verdict;
import io.strata.kafka.cli.status.Surroundings;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.RemoteConfig;
import io.strata.kafka.config.key.ConfigProblem;
import io.strata.kafka.config.key.Parsed;
import io.strata.kafka.memory.calls.LibC;
import io.strata.kafka.migration.remote.RemoteSettings;
import io.strata.kafka.tier.directory.Directories;
import io.strata.kafka.tier.directory.Marker;
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
 * Looks at what a broker is started with: its keys, the JVM's flag, the jar, Kafka's version, and
 * for what does not work in a JVM that has Strata's provider: archives of classes that were
 * recorded with it, and agents that use Unix domain sockets.
 */
final class InstallationCheck extends DoctorCheck {
  private static final String FLAG_NAME = "-Djava.nio.file.spi.DefaultFileSystemProvider=";
  private static final String FLAG = FLAG_NAME + "io.strata.kafka.nio.StrataFileSystemProvider";

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

  /** Kafka's {@code libs}; empty for the directory of this command's jar. */
  private final Optional<Path> libs;

  private List<String> versions = List.of();
  private Optional<RemoteSettings> remote = Optional.empty();

  InstallationCheck(
      Surroundings surroundings,
      BrokerProperties broker,
      OptionalLong process,
      Optional<Path> libs) {
    super(surroundings, broker, process);
    this.libs = libs;
  }

  List<Diagnosis> run() throws IOException {
    keys();
    flag();
    libs();
    if (broker.hasRemoteTierAlone()) {
      marks();
    } else {
      List<String> options = options();
      archives(options);
      unixSockets(options);
      systemCalls(options);
    }
    return found;
  }

  /** Returns the versions of Kafka's jars that {@link #run} has found. */
  List<String> versions() {
    return versions;
  }

  /** Returns the settings of Strata's own manager that {@link #run} has read, if they are sound. */
  Optional<RemoteSettings> remote() {
    return remote;
  }

  /** The log directories of a broker without pools must not lack what is in one. */
  private void marks() throws IOException {
    for (Path directory : broker.logDirs()) {
      if (Marker.isMarked(directory)) {
        fail(
            "log directory " + directory,
            "is marked: its newest records are in a pool",
            "configure strata.pools and the flag, or run 'strata drain' with them");
      }
    }
  }

  private void keys() {
    List<ConfigProblem> problems = new ArrayList<>();
    if (!broker.hasRemoteTierAlone()) {
      problems.addAll(broker.strataConfig().problems());
      problems.addAll(broker.check());
    }
    String manager = broker.remoteStorageManagerClassName().orElse("");
    if (manager.startsWith("io.strata.kafka.")) {
      Parsed<RemoteSettings> parsed = RemoteConfig.parse(broker);
      remote = parsed.config();
      parsed.problems().stream()
          .filter(problem -> !problems.contains(problem))
          .forEach(problems::add);
    }
    for (ConfigProblem problem : problems) {
      String text =
          "%s: found %s, expected %s".formatted(problem.key(), problem.found(), problem.expected());
      Verdict verdict = problem.isError() ? Verdict.FAIL : Verdict.WARN;
      found.add(new Diagnosis(verdict, "configuration", text, problem.action()));
    }
    if (problems.isEmpty()) {
      long keys =
          broker.asMap().keySet().stream()
              .filter(key -> key.startsWith("strata.") || key.startsWith("rsm.config."))
              .count();
      ok("configuration", "%s keys of Strata in %s".formatted(keys, broker.source()));
    }
  }

  private void flag() {
    if (process.isEmpty()) {
      flagIn("KAFKA_OPTS of this shell", Arrays.asList(variable("KAFKA_OPTS").split("\\s+")));
      return;
    }
    String place = "the broker's command line (process %d)".formatted(process.getAsLong());
    surroundings
        .arguments(process.getAsLong())
        .ifPresentOrElse(
            arguments -> flagIn(place, arguments),
            () ->
                warn(
                    "flag",
                    place + " cannot be read",
                    "run this as the user that the broker runs as"));
  }

  private String variable(String name) {
    return surroundings.environment().getOrDefault(name, "");
  }

  private void flagIn(String place, List<String> arguments) {
    Optional<String> given =
        arguments.stream().filter(argument -> argument.startsWith(FLAG_NAME)).findFirst();
    if (broker.hasRemoteTierAlone()) {
      if (given.isPresent()) {
        fail("flag", "is in %s, and no pool is configured".formatted(place), "remove it");
      } else {
        ok("flag", "is not in %s, and not needed: the broker has no pool".formatted(place));
      }
    } else if (given.filter(FLAG::equals).isPresent()) {
      ok("flag", "is in " + place);
    } else if (given.isPresent()) {
      fail("flag", "%s has %s".formatted(place, given.get()), "replace it with " + FLAG);
    } else if (process.isPresent()) {
      fail("flag", "is not in " + place, "add %s to the broker's KAFKA_OPTS".formatted(FLAG));
    } else {
      warn(
          "flag",
          "is not in %s; the broker's environment may be another".formatted(place),
          "see that the broker's KAFKA_OPTS has %s, and run this with the same KAFKA_OPTS"
              .formatted(FLAG));
    }
  }

  private void libs() throws IOException {
    Optional<Path> known =
        libs.or(() -> surroundings.jar().map(Path::getParent).filter(this::hasKafka));
    if (known.isEmpty()) {
      warn(
          "jar",
          "Kafka's libs are not known: this command's jar lies elsewhere",
          "name them with --libs");
      return;
    }
    if (hasKafka(known.get())) {
      jars(known.get());
      kafka(known.get());
    } else {
      fail("jar", known.get() + " has no kafka-clients-*.jar", "name Kafka's libs with --libs");
    }
  }

  private void jars(Path libs) throws IOException {
    List<Path> ours = new ArrayList<>(files(libs, "strata-kafka-"));
    ours.removeIf(jar -> !ClassCopies.isJar(String.valueOf(jar.getFileName())));
    ClassCopies.jars(variable("CLASSPATH")).stream()
        .map(Path::of)
        .filter(entry -> ours.stream().noneMatch(jar -> Directories.isSame(jar, entry)))
        .forEach(ours::add);
    if (ours.isEmpty()) {
      fail(
          "jar",
          "neither %s nor CLASSPATH of this shell has a strata-kafka-*.jar".formatted(libs),
          "copy the jar to " + libs);
    } else if (ours.size() > 1) {
      fail(
          "jar",
          "%d jars of Strata: %s".formatted(ours.size(), ours),
          "remove all but one: the broker runs the first of its class path");
    } else if (!Files.isReadable(ours.get(0))) {
      String remedy = "make it readable for the user that the broker runs as";
      fail("jar", ours.get(0) + " cannot be read", remedy);
    } else {
      Path jar = ours.get(0);
      Path own = surroundings.jar().orElse(jar);
      boolean same = Files.isSameFile(jar, own) || Files.mismatch(jar, own) < 0;
      String other = " is another one than this command's " + own;
      warnUnless(same, "jar", jar + (same ? "" : other), "run the command from the broker's jar");
    }
  }

  private void kafka(Path libs) throws IOException {
    versions =
        files(libs, "kafka-clients-").stream()
            .map(jar -> String.valueOf(jar.getFileName()))
            .map(name -> name.substring("kafka-clients-".length(), name.length() - 4))
            .filter(version -> Character.isDigit(version.charAt(0)))
            .toList();
    for (String version : versions) {
      Optional<String> untested = KafkaVersions.untested(version);
      warnUnless(
          untested.isEmpty(),
          "kafka",
          untested.orElse("version %s, which is tested".formatted(version)),
          "try it where nothing can be lost, or wait");
    }
  }

  private boolean hasKafka(Path directory) {
    try {
      return !files(directory, "kafka-clients-").isEmpty();
    } catch (IOException e) {
      return false;
    }
  }

  private static List<Path> files(Path directory, String prefix) throws IOException {
    return Directories.list(directory).stream()
        .filter(file -> String.valueOf(file.getFileName()).matches(prefix + ".*\\.jar"))
        .sorted()
        .toList();
  }

  // -- the JVM

  /** The running broker's arguments, or what this shell would give to one. */
  private List<String> options() {
    Stream<String> variables =
        JVM_VARIABLES.stream()
            .map(this::variable)
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
    return options.stream()
        .map(USED::matcher)
        .filter(matcher -> matcher.matches())
        .flatMap(matcher -> Arrays.stream(matcher.group(1).split(File.pathSeparator)))
        .map(Path::of)
        .filter(file -> Files.isRegularFile(file) && Files.isReadable(file))
        .toList();
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
      LibC.missing().ifPresent(why -> warn("system calls", why, "add -Djna.tmpdir"));
    }
  }
}
