package io.strata.kafka.cli.doctor;

import io.strata.kafka.broker.ClassCopies;
import io.strata.kafka.broker.KafkaVersions;
import io.strata.kafka.cli.doctor.DoctorCheck.Diagnosis;
import io.strata.kafka.cli.doctor.DoctorCheck.Verdict;
import io.strata.kafka.cli.status.Surroundings;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.RemoteConfig;
import io.strata.kafka.config.key.ConfigProblem;
import io.strata.kafka.tier.directory.Marker;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Looks at what a broker is started with: its keys, the JVM's flag, the jar, Kafka's version. */
final class InstallationCheck extends DoctorCheck {
  private static final String FLAG_NAME = "-Djava.nio.file.spi.DefaultFileSystemProvider=";
  private static final String FLAG = FLAG_NAME + "io.strata.kafka.nio.StrataFileSystemProvider";

  /** Kafka's {@code libs}; empty for the directory of this command's jar. */
  private final Optional<Path> libs;

  /** The versions of Kafka's jars there. */
  private List<String> versions = List.of();

  InstallationCheck(
      Surroundings surroundings,
      BrokerProperties broker,
      OptionalLong process,
      Optional<Path> libs) {
    super(surroundings, broker, process);
    this.libs = libs;
  }

  @Override
  List<Diagnosis> run() throws IOException {
    keys();
    flag();
    libs();
    if (broker.hasRemoteTierAlone()) {
      marks();
    }
    return found;
  }

  /** Returns the versions of Kafka that {@link #run} has found. */
  List<String> versions() {
    return versions;
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
      RemoteConfig.parse(broker).problems().stream()
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
    Optional<List<String>> arguments = surroundings.arguments(process.getAsLong());
    if (arguments.isPresent()) {
      flagIn(place, arguments.get());
    } else {
      warn("flag", place + " cannot be read", "run this as the user that the broker runs as");
    }
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
    List<Path> ours = new ArrayList<>(files(libs, "strata-kafka-*.jar"));
    ours.removeIf(jar -> !ClassCopies.isJar(String.valueOf(jar.getFileName())));
    ClassCopies.jars(variable("CLASSPATH")).stream()
        .map(Path::of)
        .filter(entry -> ours.stream().noneMatch(jar -> isSame(jar, entry)))
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
        files(libs, "kafka-clients-*.jar").stream()
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
      return !files(directory, "kafka-clients-*.jar").isEmpty();
    } catch (IOException e) {
      return false;
    }
  }

  private static List<Path> files(Path directory, String pattern) throws IOException {
    List<Path> files = new ArrayList<>();
    try (DirectoryStream<Path> matching = Files.newDirectoryStream(directory, pattern)) {
      matching.forEach(files::add);
    }
    return files.stream().sorted().toList();
  }

  private static boolean isSame(Path one, Path other) {
    try {
      return Files.isSameFile(one, other);
    } catch (IOException e) {
      return false;
    }
  }
}
