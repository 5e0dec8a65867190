package io.strata.kafka.it.harness;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/** The releases of Kafka that the one jar works with. */
public enum KafkaVersion {
  /**
   * The oldest: without the retriable exception, metrics for plugins, and the mark of an empty
   * transaction index.
   */
  V3_9("3.9.2"),
  /** Without the retriable exception and metrics for plugins. */
  V4_0("4.0.2"),
  /** Without the retriable exception. */
  V4_1("4.1.2"),
  /** The first that has all that Strata uses. */
  V4_2("4.2.2"),
  /** The release whose published tests of its own all others run. */
  V4_3("4.3.1"),
  /** The one that the tests use by default, and that the code is compiled with. */
  CURRENT(Distribution.kafkaVersion());

  private final String release;

  KafkaVersion(String release) {
    this.release = release;
  }

  /**
   * The one of this run, which brokers have unless a test says otherwise: {@code
   * -Dstrata.it.kafka=4.1.2}, or the current one.
   */
  public static KafkaVersion ofThisRun() {
    String asked = System.getProperty("strata.it.kafka", CURRENT.release);
    return Arrays.stream(values())
        .filter(version -> version.release.equals(asked))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "-Dstrata.it.kafka=%s: expected one of %s"
                        .formatted(asked, Arrays.toString(values()))));
  }

  /** What the tests of the core run on: all, or the one that this run has named. */
  static List<KafkaVersion> ofTheCore() {
    return System.getProperty("strata.it.kafka") == null ? List.of(values()) : List.of(ofThisRun());
  }

  /** A stock broker's jars. Those of another release than the tests' own Maven copies first. */
  Path libs() {
    return this == CURRENT
        ? Distribution.kafkaLibs()
        : copied("kafka-libs-" + release, List.of("-Dkafka.version=" + release));
  }

  /** The class path of a stock broker. */
  public String classPath() {
    return libs() + File.separator + "*";
  }

  /** The jars that have what Strata may link to, and the broker's main class. */
  public Path linked() {
    return this == CURRENT
        ? Distribution.kafkaLibs()
        : copied(
            "kafka-linked-" + release,
            List.of("-Dkafka.version=" + release, "dependency:copy@linked"));
  }

  /**
   * Kafka's published tests of its storage, and what they need; a RemoteStorageManager is among
   * them. Those of {@link #V4_3} stand in for the current release's, which are not published.
   */
  public List<Path> storageTests() {
    String jar = "kafka-storage-%s-test.jar";
    if (this == CURRENT || this == V4_3) {
      Path tests = Distribution.kafkaOwnTests().resolve(jar.formatted(V4_3));
      return this == V4_3 ? List.of(tests) : List.of(tests, movedClasses());
    }
    // Those of 4.2.2 are not published.
    String tests = this == V4_2 ? "4.2.1" : release;
    Path folder =
        copied(
            "kafka-own-tests-" + tests,
            List.of(
                // The project's own dependencies need one, though nothing of them is copied.
                "-Dkafka.version=" + release,
                "-Dartifact=org.apache.kafka:kafka-storage:" + tests + ":jar:test",
                "dependency:copy"));
    return List.of(folder.resolve(jar.formatted(tests)));
  }

  /** The classes of {@link #V4_3} that the current release has under another name, or no more. */
  private static Path movedClasses() {
    return made(
        "kafka-moved-classes",
        folder -> {
          Set<String> present = new HashSet<>();
          forEachClass(CURRENT.libs(), (name, unused) -> present.add(name));
          forEachClass(
              V4_3.linked(),
              (name, bytes) -> {
                if (!present.contains(name)) {
                  Path file = folder.resolve(name);
                  Files.createDirectories(file.getParent());
                  Files.write(file, bytes.readAllBytes());
                }
              });
        });
  }

  private interface ClassVisitor {
    void visit(String name, InputStream bytes) throws IOException;
  }

  private static void forEachClass(Path libs, ClassVisitor visitor) throws IOException {
    try (DirectoryStream<Path> jars = Files.newDirectoryStream(libs, "kafka*.jar")) {
      for (Path jar : jars) {
        try (JarFile file = new JarFile(jar.toFile())) {
          for (JarEntry entry : file.stream().toList()) {
            if (entry.getName().endsWith(".class")) {
              try (InputStream in = file.getInputStream(entry)) {
                visitor.visit(entry.getName(), in);
              }
            }
          }
        }
      }
    }
  }

  private interface Making {
    void in(Path folder) throws IOException, InterruptedException;
  }

  /** What Maven copies to a folder of that name, once; other JVMs wait for it. */
  private static Path copied(String name, List<String> how) {
    return made(name, folder -> copy(folder, how));
  }

  /** A folder of that name, made once; other JVMs wait for it. */
  @SuppressWarnings("try") // the lock works by being held
  private static Path made(String name, Making making) {
    Path folder = Distribution.work().resolve(name);
    Path done = folder.resolve("copied");
    try {
      Files.createDirectories(folder);
      try (FileChannel channel = FileChannel.open(folder.resolve("lock"), CREATE, WRITE);
          FileLock unused = channel.lock()) {
        if (!Files.exists(done)) {
          making.in(folder);
          Path unusedFile = Files.createFile(done);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while " + folder + " was made", e);
    }
    return folder;
  }

  private static void copy(Path folder, List<String> how) throws IOException, InterruptedException {
    String problem =
        Distribution.copyDependencies(
            Distribution.otherKafka(), folder, how.toArray(String[]::new));
    if (!problem.isEmpty()) {
      throw new IllegalStateException(folder + " could not be copied by " + problem);
    }
  }

  /** The class of {@code kafka-dump-log.sh}. */
  public String dumpLog() {
    return compareTo(V4_3) >= 0
        ? "org.apache.kafka.tools.DumpLogSegments"
        : "kafka.tools.DumpLogSegments";
  }

  /** The class of {@code kafka-configs.sh}. */
  public String configs() {
    return this == CURRENT ? "org.apache.kafka.tools.ConfigCommand" : "kafka.admin.ConfigCommand";
  }

  @Override
  public String toString() {
    return release;
  }
}
