package io.strata.kafka.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.RemoteConfig;
import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.config.key.ConfigProblem;
import io.strata.kafka.config.key.Parsed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What the README and the pages below {@code docs} tell a user to write or to run: every properties
 * block is read as the broker reads it, every command of Strata's is parsed by its command line.
 * The options of Kafka's own tools are looked up by a test on stock brokers.
 */
class DocumentedCommandsTest {

  /** What a block may be. Text is what is shown, not what is typed. */
  private static final Set<String> LANGUAGES =
      Set.of("properties", "sh", "text", "ini", "json", "yaml", "java", "promql");

  /** Commands of the system and of build tools, of which nothing is checked. */
  private static final Set<String> SYSTEM =
      Set.of(
          "ansible-playbook",
          "apt-get",
          "cc",
          "cd",
          "chown",
          "cp",
          "dnf",
          "docker",
          "echo",
          // Parsed by a test of its own module.
          "examples/bin/strata-bench",
          "export",
          "for",
          "git",
          "helm",
          "install",
          "ln",
          "java",
          "kubectl",
          "ls",
          "mkdir",
          "mkfs.ext4",
          "mkfs.xfs",
          "mount",
          "mv",
          "ndctl",
          "rm",
          "setfattr",
          "sha256sum",
          "/tmp/pmem_append",
          "systemctl",
          "umount",
          "rsync",
          "source");

  /** What one tier is called, and what the pages call the first of several. */
  private static final String FIRST_TIER = "hot";

  private static final Pattern MAVEN_TEST = Pattern.compile("-Dtest=(.+)");

  @TempDir Path directory;

  static Stream<MarkdownPage> pages() {
    return MarkdownPage.forUsers().stream();
  }

  static Stream<MarkdownPage.Block> propertiesBlocks() {
    return pages().flatMap(p -> p.blocks().stream()).filter(b -> b.language().equals("properties"));
  }

  static Stream<ShellCommand> commands() {
    return pages()
        .flatMap(page -> page.blocks().stream())
        .filter(block -> block.language().equals("sh"))
        .flatMap(ShellCommand::of);
  }

  @ParameterizedTest
  @MethodSource("pages")
  void everyBlockSaysWhatItIs(MarkdownPage page) {
    assertThat(page.blocks())
        .as("write ```properties, ```sh or ```text, so that what is typed can be checked")
        .allMatch(block -> LANGUAGES.contains(block.language()));
    boolean list = false;
    for (int i = 1; i < page.prose().size(); i++) {
      String line = page.prose().get(i);
      list = line.matches("( *[-*]|\\d+\\.) .*") || (list && !line.matches("\\S.*"));
      assertThat(!list && line.startsWith("    ") && page.prose().get(i - 1).isBlank())
          .as("%s:%d is a block without a fence: %s", page, i + 1, line)
          .isFalse();
    }
  }

  @ParameterizedTest
  @MethodSource("propertiesBlocks")
  void propertiesAreWhatABrokerReads(MarkdownPage.Block block) throws IOException {
    assertThat(block.lines())
        .as("a comment behind a value is part of the value")
        .noneMatch(line -> line.matches("[^#]+=.*\\s#.*"));
    assertThat(block.lines())
        .as("a properties file takes one backslash of two")
        .noneMatch(line -> line.matches("[^#].*(?<!\\\\)\\\\[^\\\\\\r\\n].*"));
    Properties written = new Properties();
    written.load(new java.io.StringReader(String.join("\n", block.lines())));

    assertThat(problemsOf(written)).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("commands")
  void commandsExist(ShellCommand command) throws IOException {
    Optional<List<String>> strata = command.strata();
    if (strata.isPresent()) {
      parsed(strata.get());
    } else if (command.name().matches("(/opt/kafka/bin/)?kafka-[a-z-]+\\.sh")) {
      keysChangedOnALiveBroker(command);
    } else if (command.name().matches(".*/.*\\.(sh|py)")) {
      script(command);
    } else if (command.name().equals("mvn")) {
      maven(command);
    } else {
      assertThat(SYSTEM).as("a command that this test does not know").contains(command.name());
    }
  }

  private static void parsed(List<String> arguments) {
    if (arguments.get(0).equals("plan")) {
      CommandLineRun.of(arguments.toArray()).succeeds();
    } else {
      assertThat(Main.commandLine().parseArgs(arguments.toArray(String[]::new)).errors()).isEmpty();
    }
  }

  private void keysChangedOnALiveBroker(ShellCommand command) throws IOException {
    // A topic's keys are Kafka's own.
    boolean brokers = command.valueOf("--entity-type").filter("brokers"::equals).isPresent();
    if (!command.name().endsWith("kafka-configs.sh") || !brokers) {
      return;
    }
    Properties changed = new Properties();
    // As the tool does: a list is in brackets, which it takes off.
    command
        .valueOf("--add-config")
        .ifPresent(
            text -> {
              for (String pair : text.split(",(?![^\\[]*])", -1)) {
                String[] keyAndValue = pair.split("=", 2);
                changed.setProperty(keyAndValue[0], keyAndValue[1].replaceAll("^\\[|]$", ""));
              }
            });
    assertThat(problemsOf(changed)).isEmpty();
    List<String> names = new ArrayList<>(changed.stringPropertyNames());
    command
        .valueOf("--delete-config")
        .ifPresent(text -> names.addAll(List.of(text.split(",", -1))));
    assertThat(names).allMatch(name -> DocumentedNames.keys().isDynamic(name), "changes live");
  }

  private static void script(ShellCommand command) throws IOException {
    Path script = MarkdownPage.root().resolve(command.name());
    assertThat(script).isExecutable();
    String text = Files.readString(script);
    for (String word : command.words()) {
      if (word.startsWith("--")) {
        String option = word.replaceFirst("=.*", "");
        assertThat(text + sources(script)).as("%s has %s", script, option).contains(option);
      }
    }
    command
        .valueOf("--part")
        .ifPresent(part -> assertThat(text).as("%s has part %s", script, part).contains(part));
  }

  /** A script hands its options to a program of the tests. */
  private static String sources(Path script) throws IOException {
    if (!script.toString().contains("integration-tests")) {
      return "";
    }
    StringBuilder text = new StringBuilder();
    Path tests = MarkdownPage.root().resolve("integration-tests/src/test/java/io/strata/kafka/it");
    for (String name :
        List.of("powercut/PowerCuts.java", "kills/KillCampaignTest.java", "soak/SoakTest.java")) {
      text.append(Files.readString(tests.resolve(name)));
    }
    return text.toString();
  }

  private static void maven(ShellCommand command) throws IOException {
    command
        .valueOf("-pl")
        .ifPresent(
            modules ->
                assertThat(modules.split(",", -1))
                    .allSatisfy(m -> assertThat(MarkdownPage.root().resolve(m)).isDirectory()));
    for (String word : command.words()) {
      var test = MAVEN_TEST.matcher(word);
      if (test.matches()) {
        Pattern name = Pattern.compile(test.group(1).replace("*", ".*"));
        assertThat(DocumentedNames.classNames()).as(word).anyMatch(name.asMatchPredicate());
      }
    }
  }

  /** All that Strata has against these lines, in a file that has what they leave out. */
  private List<ConfigProblem> problemsOf(Properties written) throws IOException {
    Properties whole = new Properties();
    whole.putAll(
        Map.of(
            "process.roles",
            "broker,controller",
            "node.id",
            "1",
            "log.dirs",
            directory.resolve("logs").toString(),
            "metric.reporters",
            "org.apache.kafka.common.metrics.JmxReporter,io.strata.kafka.StrataReporter"));
    if (written.stringPropertyNames().stream().noneMatch(n -> n.endsWith(".pools"))) {
      addPools(written, whole);
    }
    if (written.stringPropertyNames().stream().noneMatch(n -> n.endsWith(".levels"))) {
      whole.setProperty("rsm.config.levels", "ssd,hdd");
      whole.setProperty("rsm.config.ssd.directories", "/mnt/ssd/remote");
      whole.setProperty("rsm.config.hdd.directories", "/mnt/hdd/remote");
    }
    whole.putAll(written);
    makeDirectories(whole);
    Path file = directory.resolve("server.properties");
    try (var out = Files.newOutputStream(file)) {
      whole.store(out, null);
    }
    BrokerProperties broker = BrokerProperties.load(file, List.of(), Path.of(""));
    Parsed<StrataConfig> parsed = broker.strataConfig();
    List<ConfigProblem> problems = new ArrayList<>(parsed.problems());
    problems.addAll(broker.check());
    problems.addAll(RemoteConfig.parse(broker).problems());
    return problems;
  }

  /** What must exist when the keys are read is there, below this test's directory. */
  private void makeDirectories(Properties properties) throws IOException {
    for (String name : properties.stringPropertyNames()) {
      if (name.matches("rsm\\.config\\..*(directories|class\\.path)")) {
        String value = properties.getProperty(name).replaceAll("/(mnt|opt)/", directory + "/$1/");
        for (String path : value.split("[,:]", -1)) {
          Path unused = Files.createDirectories(Path.of(path.replace("/*", "")));
        }
        properties.setProperty(name, value);
      }
    }
  }

  /** The pools of the one tier, or of it and those that a key of the lines names. */
  private static void addPools(Properties written, Properties whole) {
    List<String> tiers = new ArrayList<>(List.of(FIRST_TIER));
    for (String name : written.stringPropertyNames()) {
      if (name.startsWith("strata.tier.") && !tiers.contains(name.split("\\.", -1)[2])) {
        tiers.add(name.split("\\.", -1)[2]);
      }
    }
    if (tiers.size() == 1) {
      whole.setProperty("strata.pools", "/mnt/hot/strata.pool");
      return;
    }
    whole.setProperty("strata.tiers", String.join(",", tiers));
    for (String name : tiers) {
      whole.setProperty("strata.tier." + name + ".pools", "/mnt/" + name + "/strata.pool");
    }
  }
}
