package io.strata.kafka.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * JVMs that boot with our provider as their default one, from jars: each JDK that is installed, in
 * the ways that brokers are started. {@link DefaultProviderMain} is what they run.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DefaultProviderTest {

  private static final String PROVIDER =
      "-Djava.nio.file.spi.DefaultFileSystemProvider=" + StrataFileSystemProvider.class.getName();
  private static final String MAIN = DefaultProviderMain.class.getName();

  @TempDir private Path directory;
  private String classPath = "";
  private Path mainJar = Path.of("");

  @BeforeAll
  void buildJars(@TempDir Path jars) throws IOException {
    mainJar = jars.resolve("main.jar");
    List<Path> others = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      Path path = Path.of(entry);
      if (path.endsWith(Path.of("target", "classes"))) {
        Path jar = jars.resolve("classes-" + others.size() + ".jar");
        jar(jar, path, new Attributes());
        others.add(jar);
      } else if (Files.isRegularFile(path)) {
        others.add(path);
      }
    }
    Attributes main = new Attributes();
    main.put(Attributes.Name.MAIN_CLASS, MAIN);
    main.put(new Attributes.Name("Premain-Class"), MAIN);
    main.put(
        Attributes.Name.CLASS_PATH,
        others.stream().map(jar -> jar.toUri().toString()).collect(Collectors.joining(" ")));
    jar(mainJar, Path.of("target", "test-classes"), main);
    others.add(mainJar);
    classPath = others.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
  }

  /** Only what the main class needs of the tests' classes; all of ours. */
  private static void jar(Path jar, Path classes, Attributes attributes) throws IOException {
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().putAll(attributes);
    try (OutputStream out = Files.newOutputStream(jar);
        JarOutputStream entries = new JarOutputStream(out, manifest);
        Stream<Path> files = Files.walk(classes)) {
      for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
        String name = classes.relativize(file).toString().replace(File.separatorChar, '/');
        if (attributes.isEmpty() || name.contains(DefaultProviderMain.class.getSimpleName())) {
          entries.putNextEntry(new JarEntry(name));
          Files.copy(file, entries);
        }
      }
    }
  }

  static Stream<Path> jdks() throws IOException {
    return InstalledJdks.all().stream();
  }

  static Stream<Arguments> starts() throws IOException {
    return jdks()
        .flatMap(
            jdk ->
                Stream.of(
                    Arguments.of(jdk, List.of()),
                    Arguments.of(jdk, List.of("-Xshare:off")),
                    Arguments.of(
                        jdk,
                        List.of(
                            "-Dcom.sun.management.jmxremote",
                            "-Dfile.encoding=US-ASCII",
                            "-XX:+UseSerialGC",
                            "-esa",
                            "-ea"))));
  }

  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("starts")
  void bootsFromTheClassPath(Path jdk, List<String> options) throws Exception {
    List<String> arguments = new ArrayList<>(options);
    arguments.addAll(List.of("-cp", classPath, PROVIDER, MAIN));
    assertOk(jdk, arguments);
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void bootsFromAnExecutableJar(Path jdk) throws Exception {
    assertOk(jdk, List.of(PROVIDER, "-jar", mainJar.toString()));
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void bootsWithAnAgent(Path jdk) throws Exception {
    Path report = directory.resolve("agent");
    assertOk(
        jdk, List.of(PROVIDER, "-cp", classPath, "-javaagent:" + mainJar + "=" + report, MAIN));
    assertThat(report).content().isEqualTo(StrataFileSystemProvider.class.getName());
  }

  /**
   * An archive of the application's classes, as Kafka's own container image has one. It is made
   * without the flag: with it, the archive would hold the provider's own classes, and the JDK then
   * asks for the default file system (to name an archived class's jar) while it creates it.
   */
  @ParameterizedTest
  @MethodSource("jdks")
  void bootsFromAnArchiveOfClasses(Path jdk) throws Exception {
    Path archive = directory.resolve("classes.jsa");
    Run dump =
        run(
            jdk,
            List.of(
                "-XX:ArchiveClassesAtExit=" + archive,
                "-cp",
                classPath,
                MAIN,
                directory.resolve("dump").toString(),
                Files.createDirectory(directory.resolve("dump-work")).toString()));
    assertThat(dump.exitCode()).as(dump.output()).isZero();
    assertThat(archive).isNotEmptyFile();
    assertOk(
        jdk,
        List.of(
            "-Xshare:on", "-XX:SharedArchiveFile=" + archive, PROVIDER, "-cp", classPath, MAIN));
  }

  /** What {@code strata doctor} looks for: the name of the class in the file. */
  @ParameterizedTest
  @MethodSource("jdks")
  void anArchiveThatHasTheProviderEndsTheNextStart(Path jdk) throws Exception {
    Path archive = directory.resolve("classes.jsa");
    Run dump =
        run(
            jdk,
            List.of(
                "-XX:ArchiveClassesAtExit=" + archive,
                PROVIDER,
                "-cp",
                classPath,
                MAIN,
                directory.resolve("dump").toString(),
                Files.createDirectory(directory.resolve("dump-work")).toString()));
    assertThat(dump.exitCode()).as(dump.output()).isZero();
    assertThat(Files.readString(archive, StandardCharsets.ISO_8859_1))
        .contains(StrataFileSystemProvider.class.getName().replace('.', '/'));

    Run run =
        run(jdk, List.of("-XX:SharedArchiveFile=" + archive, PROVIDER, "-cp", classPath, MAIN));

    assertThat(run.exitCode()).isNotZero();
    assertThat(run.output()).contains("FileSystems.getDefault()");
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void bootsWithAFlightRecording(Path jdk) throws Exception {
    Path report = directory.resolve("report");
    List<String> arguments =
        List.of(
            "-XX:StartFlightRecording=filename=" + directory.resolve("a.jfr"),
            PROVIDER,
            "-cp",
            classPath,
            MAIN,
            report.toString(),
            Files.createDirectory(directory.resolve("work")).toString());
    Run run = run(jdk, arguments); // The recorder itself writes to standard output.
    assertThat(run.exitCode()).as(run.output()).isZero();
    assertThat(report).content().isEqualTo("OK");
    assertThat(directory.resolve("a.jfr")).isNotEmptyFile();
  }

  /** It would take what the pool has of a segment for what its log file has. */
  @Test
  void theCommandLineDoesNotRunWithTheProvider() throws Exception {
    Run run =
        run(
            Path.of(System.getProperty("java.home")),
            List.of(PROVIDER, "-cp", classPath, "io.strata.kafka.cli.Main", "status"));

    assertThat(run.output()).startsWith("strata: found Strata's provider").contains("STRATA_OPTS");
    assertThat(run.exitCode()).isEqualTo(3);
  }

  private void assertOk(Path jdk, List<String> arguments) throws Exception {
    Path report = directory.resolve("report");
    List<String> all = new ArrayList<>(arguments);
    all.add(report.toString());
    all.add(Files.createDirectory(directory.resolve("work")).toString());
    Run run = run(jdk, all);
    assertThat(run.output()).as("standard output and error").isEmpty();
    assertThat(run.exitCode()).isZero();
    assertThat(report).content().isEqualTo("OK");
  }

  private record Run(int exitCode, String output) {}

  private Run run(Path jdk, List<String> arguments) throws Exception {
    Path output = directory.resolve("output");
    List<String> command = new ArrayList<>();
    command.add(jdk.resolve("bin/java").toString());
    command.addAll(arguments);
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    builder
        .environment()
        .keySet()
        .removeAll(Set.of("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS"));
    Process process = builder.start();
    try {
      assertThat(process.waitFor(120, TimeUnit.SECONDS)).as("ended in time: %s", command).isTrue();
    } finally {
      process.destroyForcibly();
    }
    return new Run(process.exitValue(), Files.readString(output));
  }
}
