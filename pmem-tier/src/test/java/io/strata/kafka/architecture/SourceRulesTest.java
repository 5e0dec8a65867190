package io.strata.kafka.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What class files do not tell: the sources of all modules, walked as folders. */
class SourceRulesTest {

  private static final List<String> MODULES =
      List.of(
          "plugin-api",
          "migration",
          "pmem-tier",
          "integration-tests",
          "integration-tests/bench",
          "integration-tests/testcontainers");

  /** The second {@code TestHook} takes the place of the first on a test's class path. */
  private static final Set<String> TWICE = Set.of("package-info.java", "TestHook.java");

  /** Surefire runs in the module's own folder; the modules are its siblings. */
  private static final Path TOP = Path.of("..").toAbsolutePath().normalize();

  @Test
  void everyPackageIsNullMarked() throws IOException {
    for (String module : MODULES) {
      Path main = TOP.resolve(module).resolve("src/main/java");
      Path test = TOP.resolve(module).resolve("src/test/java");
      assertThat(packagesWithoutMark(main, main)).as("packages in %s", main).isEmpty();
      // A test package that is in main too, is marked there.
      assertThat(packagesWithoutMark(test, main)).as("packages in %s", test).isEmpty();
    }
  }

  /** A name in a stack trace, a log line or a document is one class. */
  @Test
  void noSimpleNameIsThatOfTwoClasses() throws IOException {
    Map<String, List<Path>> byName = new TreeMap<>();
    for (String module : MODULES) {
      try (Stream<Path> files = Files.walk(TOP.resolve(module).resolve("src"))) {
        files
            .filter(f -> f.toString().endsWith(".java") && !TWICE.contains(name(f)))
            .forEach(f -> byName.computeIfAbsent(name(f), n -> new ArrayList<>()).add(f));
      }
    }
    byName.values().removeIf(files -> files.size() == 1);
    assertThat(byName).isEmpty();
  }

  private static String name(Path file) {
    return String.valueOf(file.getFileName());
  }

  @Test
  void theTopLevelHoldsModulesAndNothingElse() throws IOException {
    Set<String> allowed =
        Set.of(
            "pom.xml",
            "plugin-api",
            "pmem-tier",
            "migration",
            "docs",
            "examples",
            "findings",
            "integration-tests",
            "README.md",
            "LICENSE",
            "target");
    try (Stream<Path> entries = Files.list(TOP)) {
      assertThat(entries.map(p -> p.getFileName().toString()))
          .filteredOn(name -> !name.startsWith("."))
          .isSubsetOf(allowed);
    }
  }

  /** Packages, without those below them, whose messages are templates. */
  private static final List<String> TEMPLATED =
      List.of(
          "plugin-api/src/main/java/io/strata/kafka/api",
          "migration/src/main/java/io/strata/kafka/migration",
          "migration/src/main/java/io/strata/kafka/migration/plan",
          "pmem-tier/src/main/java/io/strata/kafka",
          "pmem-tier/src/main/java/io/strata/kafka/broker",
          "pmem-tier/src/main/java/io/strata/kafka/cli",
          "pmem-tier/src/main/java/io/strata/kafka/cli/doctor",
          "pmem-tier/src/main/java/io/strata/kafka/cli/pool",
          "pmem-tier/src/main/java/io/strata/kafka/cli/remote",
          "pmem-tier/src/main/java/io/strata/kafka/cli/status",
          "pmem-tier/src/main/java/io/strata/kafka/cli/terminal",
          "pmem-tier/src/main/java/io/strata/kafka/config",
          "pmem-tier/src/main/java/io/strata/kafka/config/key",
          "pmem-tier/src/main/java/io/strata/kafka/layout",
          "pmem-tier/src/main/java/io/strata/kafka/memory",
          "pmem-tier/src/main/java/io/strata/kafka/memory/calls",
          "pmem-tier/src/main/java/io/strata/kafka/metrics",
          "pmem-tier/src/main/java/io/strata/kafka/nio",
          "pmem-tier/src/main/java/io/strata/kafka/pool",
          "pmem-tier/src/main/java/io/strata/kafka/pool/space",
          "pmem-tier/src/main/java/io/strata/kafka/pool/words");

  /** A block comment, or line comments below each other. */
  private static final Pattern COMMENT = Pattern.compile("(?s)/\\*.*?\\*/|(?-s)//.*(\\n\\s*//.*)*");

  /** A chain over several lines hides the message: {@code formatted()} or a text block shows it. */
  @Test
  void messagesAreTemplates() throws IOException {
    assertThat(linesOfTemplated(Pattern.compile("^\\s*\\+ ")))
        .as("lines that begin with a lone +: use formatted(), or a text block")
        .isEmpty();
  }

  /** Rooms whose decisions keep or lose records. */
  private static final List<String> DECIDING =
      List.of(
          "migration/src/main/java/io/strata/kafka/migration/remote",
          "pmem-tier/src/main/java/io/strata/kafka/nio",
          "pmem-tier/src/main/java/io/strata/kafka/pool",
          "pmem-tier/src/main/java/io/strata/kafka/segment",
          "pmem-tier/src/main/java/io/strata/kafka/tier");

  /** Classes in which a failure that is taken for "no" refuses, skips, forces, or names a file. */
  private static final Set<String> NO_IS_SAFE =
      Set.of(
          "AcceptedLoss.java",
          "HotTier.java",
          "KafkaLocks.java",
          "LogDirectories.java",
          "LostPools.java",
          "MissingPools.java",
          "Moments.java",
          "MoverLock.java",
          "NewestLogFiles.java",
          "PoolAccess.java",
          "PoolFile.java",
          "PoolLock.java",
          "Recovery.java",
          "StoreOpener.java");

  /** {@code Files.exists} and its like take a failing disk for a file that is not there. */
  @Test
  void noFailureIsTakenForNo() throws IOException {
    Pattern guess = Pattern.compile("Files[.](exists|isRegularFile|isDirectory|isWritable)\\(");
    for (String room : DECIDING) {
      try (Stream<Path> files = Files.walk(TOP.resolve(room))) {
        for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
          boolean guesses = guess.matcher(Files.readString(file)).find();
          assertThat(guesses && !NO_IS_SAFE.contains(name(file)))
              .as("%s asks Files: ask FileStatus, which throws what it cannot tell", file)
              .isFalse();
        }
      }
    }
  }

  /** Sentences without a noun of their own are read twice. */
  @Test
  void noSentenceOfACommentBeginsWithoutItsSubject() throws IOException {
    Pattern bare =
        Pattern.compile("(^|[.!?] )(What|Of|One that|Ones that|Those|By|Who|Whoever) [A-Za-z{]");
    List<String> found = new ArrayList<>();
    for (String module : List.of("plugin-api", "migration", "pmem-tier")) {
      try (Stream<Path> files = Files.walk(TOP.resolve(module).resolve("src/main/java"))) {
        for (Path file : files.filter(f -> f.toString().endsWith(".java")).sorted().toList()) {
          COMMENT
              .matcher(Files.readString(file))
              .results()
              .map(comment -> text(comment.group()))
              .filter(bare.asPredicate())
              .forEach(text -> found.add("%s: %s".formatted(file.getFileName(), text)));
        }
      }
    }
    assertThat(found).isEmpty();
  }

  private static String text(String comment) {
    return comment
        .lines()
        .map(line -> line.replaceFirst("^\\s*(/\\*+|\\*+/?|//)?(\\s*<p>)?", "").strip())
        .collect(Collectors.joining(" "))
        .strip();
  }

  private static List<String> linesOfTemplated(Pattern pattern) throws IOException {
    List<String> found = new ArrayList<>();
    for (String folder : TEMPLATED) {
      try (Stream<Path> files = Files.list(TOP.resolve(folder))) {
        for (Path file : files.filter(f -> f.toString().endsWith(".java")).sorted().toList()) {
          List<String> lines = Files.readAllLines(file);
          for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            boolean opens = line.strip().equals("/**") && i + 1 < lines.size();
            String read = opens ? line + lines.get(i + 1).replaceFirst("^\\s*\\*", "") : line;
            if (pattern.matcher(read).find()) {
              found.add("%s:%d: %s".formatted(file.getFileName(), i + 1, read.strip()));
            }
          }
        }
      }
    }
    return found;
  }

  private static Set<Path> packagesWithoutMark(Path sources, Path alsoMarkedIn) throws IOException {
    if (!Files.isDirectory(sources)) {
      return Set.of();
    }
    try (Stream<Path> files = Files.walk(sources)) {
      return files
          .filter(f -> f.toString().endsWith(".java"))
          .map(f -> sources.relativize(f.getParent()))
          .distinct()
          .filter(p -> !isMarked(sources.resolve(p)) && !isMarked(alsoMarkedIn.resolve(p)))
          .collect(Collectors.toSet());
    }
  }

  private static boolean isMarked(Path packageFolder) {
    Path info = packageFolder.resolve("package-info.java");
    try {
      return Files.exists(info) && Files.readString(info).contains("@NullMarked");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
