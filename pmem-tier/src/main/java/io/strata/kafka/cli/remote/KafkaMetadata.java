package io.strata.kafka.cli.remote;

import io.strata.kafka.broker.KafkaVersions;
import io.strata.kafka.cli.remote.KafkaComparison.KafkaView;
import io.strata.kafka.cli.remote.KafkaComparison.KnownToKafka;
import io.strata.kafka.cli.remote.KafkaComparison.State;
import io.strata.kafka.cli.terminal.Failures;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.unpublished.KafkaRelease;
import io.strata.kafka.unpublished.RemoteMetadataRecords;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentState;

/**
 * Reads Kafka's topic of remote segments. Everything in the command line that needs Kafka's classes
 * is here: without them the first call of a method throws {@link NoClassDefFoundError}.
 */
final class KafkaMetadata {

  static final String TOPIC = "__remote_log_metadata";

  private static final Duration POLL = Duration.ofSeconds(1);

  /** A cluster that answers does so sooner. */
  private static final Duration ANSWER = Duration.ofSeconds(15);

  /** Without a record for so long the topic cannot be read. */
  private static final Duration STALL = Duration.ofMinutes(1);

  private final Consumer<byte[], byte[]> consumer;
  private final LongSupplier nanoTime;
  private final RemoteMetadataRecords records;
  private final Map<String, State> states = new HashMap<>();
  private final Map<String, KnownToKafka> segments = new HashMap<>();
  private long unknownRecords;

  KafkaMetadata(
      Consumer<byte[], byte[]> consumer, RemoteMetadataRecords records, LongSupplier nanoTime) {
    this.consumer = consumer;
    this.records = records;
    this.nanoTime = nanoTime;
  }

  /** Reads all of the topic, with client properties as Kafka's own tools take them. */
  static KafkaView read(String bootstrapServers, Optional<Path> commandConfig)
      throws IOException, InterruptedException {
    Properties properties = new Properties();
    if (commandConfig.isPresent()) {
      try (InputStream in = Files.newInputStream(commandConfig.get())) {
        properties.load(in);
      }
    }
    properties.put("bootstrap.servers", bootstrapServers);
    RemoteMetadataRecords records =
        RemoteMetadataRecords.reader()
            .orElseThrow(
                () ->
                    new IOException(
                        """
                        --bootstrap-server: found no reader of %s that Strata knows among these \
                        classes of Kafka (%s), expected one of a tested release: %s\
                        """
                            .formatted(
                                TOPIC,
                                KafkaRelease.version().orElse("of an unknown release"),
                                String.join(", ", KafkaVersions.TESTED))));
    try {
      String cluster = clusterId(properties, ANSWER);
      Properties ofConsumer = new Properties();
      ofConsumer.putAll(properties);
      ofConsumer.put("enable.auto.commit", "false");
      ofConsumer.put("auto.offset.reset", "earliest");
      ofConsumer.put("allow.auto.create.topics", "false");
      ofConsumer.remove("group.id");
      try (KafkaConsumer<byte[], byte[]> consumer =
          new KafkaConsumer<>(
              ofConsumer, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
        return new KafkaMetadata(consumer, records, System::nanoTime).readAll(cluster);
      }
    } catch (KafkaException e) {
      throw new IOException(
          bootstrapServers + ": could not read " + TOPIC + " (" + Failures.reasonOf(e) + ")", e);
    }
  }

  /** Returns the cluster's identity, if a broker answers in time. */
  static String clusterId(Properties properties, Duration answer)
      throws IOException, InterruptedException {
    var options = new DescribeClusterOptions().timeoutMs((int) answer.toMillis());
    try (Admin admin = Admin.create(properties)) {
      return admin.describeCluster(options).clusterId().get();
    } catch (ExecutionException e) {
      throw new IOException(
          """
          %s: found no Kafka cluster that answers (%s); see --bootstrap-server and \
          --command-config\
          """
              .formatted(
                  properties.get("bootstrap.servers"),
                  Failures.reasonOf(Optional.ofNullable(e.getCause()).orElse(e))),
          e);
    }
  }

  /** Reads to the end that the topic had when this began. */
  KafkaView readAll(String clusterId) throws IOException {
    List<TopicPartition> partitions =
        Optional.ofNullable(consumer.partitionsFor(TOPIC)).orElse(List.of()).stream()
            .map(info -> new TopicPartition(info.topic(), info.partition()))
            .toList();
    if (partitions.isEmpty()) {
      throw new IOException(
          """
          cluster %s: found no topic %s, expected it where Kafka's tiered storage is used with \
          its own metadata manager\
          """
              .formatted(clusterId, TOPIC));
    }
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
    Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
    long lastRecord = nanoTime.getAsLong();
    while (!atEnd(ends)) {
      var records = consumer.poll(POLL);
      records.forEach(this::take);
      if (!records.isEmpty()) {
        lastRecord = nanoTime.getAsLong();
      } else if (nanoTime.getAsLong() - lastRecord > STALL.toNanos()) {
        throw new IOException(
            TOPIC + ": found no record for " + STALL.toSeconds() + " s before its end; try again");
      }
    }
    return new KafkaView(clusterId, Map.copyOf(states), Map.copyOf(segments), gap());
  }

  private boolean atEnd(Map<TopicPartition, Long> ends) {
    return ends.entrySet().stream()
        .allMatch(end -> consumer.position(end.getKey()) >= end.getValue());
  }

  private void take(ConsumerRecord<byte[], byte[]> record) {
    if (record.value() == null) {
      return;
    }
    Optional<RemoteMetadataRecords.Noted> read;
    try {
      read = records.read(record.value());
    } catch (RuntimeException e) {
      unknownRecords++; // A record of a later version of Kafka: reported, since a segment may be in
      // it.
      return;
    }
    read.ifPresent(this::take);
  }

  private void take(RemoteMetadataRecords.Noted noted) {
    noted
        .segment()
        .ifPresent(
            segment -> {
              TopicIdPartition partition = segment.topicIdPartition();
              SegmentKey key =
                  new SegmentKey(
                      partition.topic(),
                      partition.topicId().toString(),
                      partition.partition(),
                      segment.startOffset(),
                      noted.id());
              segments.put(noted.id(), new KnownToKafka(key, segment.endOffset()));
            });
    put(noted.id(), noted.state());
  }

  /** Notes a state, unless Kafka ignores it: what it has begun to delete does not come back. */
  private void put(String id, RemoteLogSegmentState state) {
    State now =
        switch (state) {
          case COPY_SEGMENT_STARTED -> State.UNFINISHED;
          case COPY_SEGMENT_FINISHED -> State.COPIED;
          case DELETE_SEGMENT_STARTED -> State.DELETING;
          case DELETE_SEGMENT_FINISHED -> State.DELETED;
        };
    State before = states.get(id);
    if (before != State.DELETED && (before != State.DELETING || now == State.DELETED)) {
      states.put(id, now);
    }
    if (states.get(id) == State.DELETED) {
      segments.remove(id);
    }
  }

  private Optional<String> gap() {
    return unknownRecords == 0
        ? Optional.empty()
        : Optional.of(
            "%s records of %s are of a version that these classes of Kafka do not know"
                .formatted(unknownRecords, TOPIC));
  }
}
