package io.strata.kafka.cli;

import io.strata.kafka.migration.remote.store.SegmentKey;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import picocli.CommandLine.Option;

/** Which segments of a store a command is about. */
final class SegmentSelection {

  @Option(
      names = "--topic",
      paramLabel = "NAME",
      description = "Only this topic; may be given several times.")
  private List<String> topics = new ArrayList<>();

  @Option(
      names = "--partition",
      paramLabel = "NUMBER",
      description = "Only this partition; may be given several times.")
  private List<Integer> partitions = new ArrayList<>();

  Predicate<SegmentKey> chosen() {
    return key ->
        (topics.isEmpty() || topics.contains(key.topic()))
            && (partitions.isEmpty() || partitions.contains(key.partition()));
  }

  /** Whether all are chosen. */
  boolean everything() {
    return topics.isEmpty() && partitions.isEmpty();
  }
}
