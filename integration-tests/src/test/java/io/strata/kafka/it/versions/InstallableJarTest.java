package io.strata.kafka.it.versions;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Distribution;
import io.strata.kafka.it.harness.JavaProcess;
import io.strata.kafka.it.harness.Pools;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * The one jar that users put beside Kafka's own: self-contained, and in the way of no other
 * library.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class InstallableJarTest {

  private static final int JAVA_17 = 61;
  private static final Pattern VERSIONED = Pattern.compile("META-INF/versions/(\\d+)/(.*)");
  private static final Pattern ARTIFACT =
      Pattern.compile("META-INF/maven/(?<group>[^/]+)/(?<artifact>[^/]+)/pom\\.properties");

  private JarFile jar;

  @BeforeAll
  void open() throws IOException {
    jar = new JarFile(Distribution.strataJar().toFile());
  }

  @AfterAll
  void close() throws IOException {
    jar.close();
  }

  @Test
  void holdsOurClassesTheRelocatedOnesAndThoseBoundToTheirPackage() {
    assertThat(classes())
        .as("classes outside of the packages that may be in the jar")
        .allMatch(
            name ->
                name.startsWith("io/strata/kafka/")
                    || name.startsWith("com/yammer/metrics/core/PulledMetrics")
                    || name.equals("com/yammer/metrics/core/package-info.class")
                    || name.startsWith("com/intel/pmem/llpl/")
                    || name.startsWith("com/sun/jna/"));
  }

  @Test
  void holdsNothingOfKafkaOrOfItsLoggingFacade() {
    assertThat(names())
        .noneMatch(name -> name.contains("org/apache/kafka") || name.startsWith("kafka/"))
        .noneMatch(name -> name.contains("org/slf4j"));
  }

  @Test
  void holdsAllThreeModules() {
    assertThat(names())
        .contains("META-INF/maven/io.strata.kafka/plugin-api/pom.properties")
        .contains("META-INF/maven/io.strata.kafka/migration/pom.properties")
        .anyMatch(name -> name.startsWith("io/strata/kafka/api/"))
        .contains("io/strata/kafka/nio/StrataFileSystemProvider.class")
        .contains("io/strata/kafka/StrataReporter.class");
  }

  @Test
  void holdsNoSignaturesAndNoModuleDescriptors() {
    assertThat(names())
        .noneMatch(name -> name.endsWith("module-info.class"))
        .noneMatch(name -> name.matches("META-INF/[^/]+\\.(SF|DSA|RSA|EC)"));
  }

  @Test
  void namesOnlyClassesThatItHolds() throws IOException {
    List<String> names = names();
    for (String service : names) {
      if (service.matches("META-INF/services/[^/]+")) {
        for (String line : text(service).lines().toList()) {
          String type = line.replaceAll("#.*", "").strip();
          if (!type.isEmpty()) {
            assertThat(names).as(service).contains(type.replace('.', '/') + ".class");
          }
        }
      }
    }
  }

  @Test
  void runsOnJava17() throws IOException {
    List<String> newer = new ArrayList<>();
    for (String name : classes()) {
      try (DataInputStream in = new DataInputStream(jar.getInputStream(jar.getEntry(name)))) {
        in.readInt();
        in.readUnsignedShort();
        if (in.readUnsignedShort() > JAVA_17) {
          newer.add(name);
        }
      }
    }
    assertThat(newer).as("classes that Java 17 cannot load").isEmpty();
  }

  @Test
  void saysWhatItIs() throws IOException {
    Manifest manifest = Objects.requireNonNull(jar.getManifest());
    Attributes main = manifest.getMainAttributes();
    assertThat(main.getValue("Implementation-Version")).isEqualTo(Distribution.version());
    assertThat(main.getValue("Main-Class")).isEqualTo("io.strata.kafka.cli.Main");
    assertThat(names()).contains("io/strata/kafka/cli/Main.class");
    JavaProcess.Finished version = Pools.strata("--version").orFail();
    assertThat(version.output()).contains(Distribution.version());
  }

  /** The wrapper script, where install.md has a user put it. */
  @Test
  void theWrapperFindsTheJarBesideKafkas(@TempDir Path kafka) throws Exception {
    Path script = Files.createDirectory(kafka.resolve("bin")).resolve("strata");
    Files.copy(Path.of("../examples/bin/strata"), script, StandardCopyOption.COPY_ATTRIBUTES);
    Path libs = Files.createDirectory(kafka.resolve("libs"));

    Run without = run(script.toString(), "--version");
    assertThat(without.code()).isEqualTo(2);
    assertThat(without.output()).contains("found no strata-kafka-*.jar", libs.toString());

    Path name = Distribution.strataJar().getFileName();
    Files.createSymbolicLink(libs.resolve(name), Distribution.strataJar());
    Run with = run(script.toString(), "--version");
    assertThat(with.output()).contains("strata " + Distribution.version());
    assertThat(with.code()).isZero();

    Run completion =
        run(
            "bash",
            "-c",
            """
            source <('%s' generate-completion)
            COMP_WORDS=(strata po); COMP_CWORD=1; COMP_LINE='strata po'; _complete_strata
            echo "completed: ${COMPREPLY[*]}"
            """
                .formatted(script));
    assertThat(completion.output()).contains("completed: pool");
  }

  private static Run run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    return new Run(process.waitFor(), output);
  }

  private record Run(int code, String output) {}

  @Test
  void carriesTheLicencesOfWhatIsInIt() throws IOException {
    assertThat(text("META-INF/LICENSE")).contains("Apache License", "Version 2.0");
    assertThat(text("META-INF/NOTICE")).contains("Strata", "Micrometer", "Jackson");
    String thirdParty = text("META-INF/THIRD-PARTY.txt");
    for (String name : names()) {
      Matcher artifact = ARTIFACT.matcher(name);
      if (artifact.matches() && !artifact.group("group").equals("io.strata.kafka")) {
        assertThat(thirdParty)
            .as("META-INF/THIRD-PARTY.txt")
            .contains(artifact.group("group") + ":" + artifact.group("artifact"));
      }
    }
  }

  private List<String> names() {
    return jar.stream().map(JarEntry::getName).filter(name -> !name.endsWith("/")).toList();
  }

  /** All classes but those for newer Java versions. */
  private List<String> classes() {
    return names().stream()
        .filter(name -> name.endsWith(".class") && !VERSIONED.matcher(name).matches())
        .toList();
  }

  private String text(String name) throws IOException {
    return new String(jar.getInputStream(jar.getEntry(name)).readAllBytes(), UTF_8);
  }
}
