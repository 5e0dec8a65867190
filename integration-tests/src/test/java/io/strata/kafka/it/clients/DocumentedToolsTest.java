package io.strata.kafka.it.clients;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Distribution;
import io.strata.kafka.it.harness.JavaProcess;
import io.strata.kafka.it.harness.KafkaVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import kafka.server.KafkaConfig;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.junit.jupiter.api.Test;

/**
 * What the README and the pages for users ask of Kafka exists in it: the options of its tools, and
 * its own keys in properties blocks. The rest of these blocks is checked in {@code pmem-tier}.
 */
class DocumentedToolsTest {
  private static final Duration LIMIT = Duration.ofMinutes(5);

  /** The class that each script of Kafka's runs, and the command where one has the options. */
  private static final Map<String, String> TOOLS =
      Map.ofEntries(
          Map.entry("kafka-cluster.sh", "org.apache.kafka.tools.ClusterTool"),
          Map.entry("kafka-configs.sh", KafkaVersion.CURRENT.configs()),
          Map.entry("kafka-console-consumer.sh", "org.apache.kafka.tools.consumer.ConsoleConsumer"),
          Map.entry("kafka-console-producer.sh", "org.apache.kafka.tools.ConsoleProducer"),
          Map.entry(
              "kafka-consumer-groups.sh",
              "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"),
          Map.entry("kafka-delete-records.sh", "org.apache.kafka.tools.DeleteRecordsCommand"),
          Map.entry("kafka-dump-log.sh", KafkaVersion.CURRENT.dumpLog()),
          Map.entry("kafka-features.sh", "org.apache.kafka.tools.FeatureCommand"),
          Map.entry("kafka-get-offsets.sh", "org.apache.kafka.tools.GetOffsetShell"),
          Map.entry("kafka-jmx.sh", "org.apache.kafka.tools.JmxTool"),
          Map.entry("kafka-leader-election.sh", "org.apache.kafka.tools.LeaderElectionCommand"),
          Map.entry("kafka-log-dirs.sh", "org.apache.kafka.tools.LogDirsCommand"),
          Map.entry("kafka-producer-perf-test.sh", "org.apache.kafka.tools.ProducerPerformance"),
          Map.entry(
              "kafka-reassign-partitions.sh",
              "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"),
          Map.entry("kafka-storage.sh", "kafka.tools.StorageTool format"),
          Map.entry("kafka-topics.sh", "org.apache.kafka.tools.TopicCommand"));

  private static final Pattern BLOCK =
      Pattern.compile("```(sh|properties)\n(.*?)```", Pattern.DOTALL);

  /** One command: a line, with those that a backslash continues. */
  private static final Pattern COMMAND =
      Pattern.compile("(?m)^.*?\\b(kafka-[a-z-]+\\.sh)((?:.*\\\\\n)*.*)$");

  /** What is set for topics: by the tool for topics, and by that for configurations. */
  private static final Pattern TOPIC_KEYS =
      Pattern.compile(
          "(?:--config|--entity-type topics[^-]*(?:-(?!-add)[^-]*)*--add-config) (\\S+=\\S+)");

  @Test
  void optionsOfKafkasToolsExist() throws IOException, InterruptedException {
    Map<String, List<String>> used = new TreeMap<>();
    for (String block : blocks("sh").toList()) {
      COMMAND
          .matcher(block)
          .results()
          .forEach(
              command ->
                  options(command.group(2).replaceAll("(?m)(^|\\s)# .*$", ""))
                      .forEach(
                          o ->
                              used.computeIfAbsent(command.group(1), k -> new ArrayList<>())
                                  .add(o)));
    }
    assertThat(used).containsKeys("kafka-configs.sh", "kafka-topics.sh");
    for (Map.Entry<String, List<String>> tool : used.entrySet()) {
      assertThat(TOOLS).as("a script that this test knows").containsKey(tool.getKey());
      String help = help(TOOLS.getOrDefault(tool.getKey(), ""));
      assertThat(tool.getValue())
          .as(tool.getKey())
          .allMatch(option -> Pattern.compile(Pattern.quote(option) + "\\b").matcher(help).find());
    }
  }

  @Test
  void keysOfKafkaExist() throws IOException {
    List<String> unknown =
        blocks("properties")
            .flatMap(String::lines)
            .map(String::strip)
            .filter(line -> line.contains("=") && !line.startsWith("#"))
            .map(line -> line.substring(0, line.indexOf('=')))
            .filter(key -> !key.matches("(strata|rsm\\.config|rlmm\\.config)\\..*"))
            // Read by what reports the metrics of Kafka's own registry.
            .filter(key -> !key.matches("(kafka\\.metrics|prometheus\\.metrics\\.reporter)\\..*"))
            .filter(key -> !KafkaConfig.configNames().contains(key))
            .filter(key -> !LogConfig.configNames().contains(key))
            .toList();
    assertThat(unknown).isEmpty();
  }

  @Test
  void topicKeysOfKafkaExist() throws IOException {
    List<String> unknown =
        blocks("sh")
            .flatMap(block -> TOPIC_KEYS.matcher(block).results())
            .flatMap(match -> Stream.of(match.group(1).split(",", -1)))
            .map(pair -> pair.replaceFirst("=.*", ""))
            .filter(key -> !LogConfig.configNames().contains(key))
            .toList();
    assertThat(unknown).isEmpty();
  }

  private static Stream<String> options(String arguments) {
    return Pattern.compile("(?<=\\s)--[a-z-]+")
        .matcher(arguments)
        .results()
        .map(MatchResult::group);
  }

  private static String help(String tool) throws IOException, InterruptedException {
    Path folder = Files.createDirectories(Distribution.work().resolve("DocumentedToolsTest"));
    List<String> command =
        new ArrayList<>(List.of("-XX:TieredStopAtLevel=1", "-cp", Distribution.kafkaClassPath()));
    command.addAll(List.of(tool.split(" ", -1)));
    command.add("--help");
    return JavaProcess.run("help", command, folder, LIMIT).output();
  }

  /** The text of all blocks of a language on the pages for users. */
  private static Stream<String> blocks(String language) throws IOException {
    Path root = Distribution.root();
    List<Path> pages = new ArrayList<>(List.of(root.resolve("README.md")));
    for (String folder : List.of("docs", "examples")) {
      try (Stream<Path> files = Files.walk(root.resolve(folder), 3)) {
        files
            .filter(
                file -> file.toString().endsWith(".md") && !file.toString().contains("/target/"))
            .forEach(pages::add);
      }
    }
    List<String> blocks = new ArrayList<>();
    for (Path page : pages) {
      BLOCK
          .matcher(Files.readString(page))
          .results()
          .filter(block -> block.group(1).equals(language))
          .forEach(block -> blocks.add(block.group(2)));
    }
    assertThat(blocks).isNotEmpty();
    return blocks.stream();
  }
}
