package io.strata.kafka.cli.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.cli.RemoteStores;
import io.strata.kafka.cli.remote.KafkaComparison.KafkaView;
import io.strata.kafka.cli.remote.KafkaComparison.KnownToKafka;
import io.strata.kafka.cli.remote.KafkaComparison.State;
import io.strata.kafka.cli.remote.StoreInventory.Segment;
import io.strata.kafka.cli.terminal.CommandException;
import io.strata.kafka.unpublished.RemoteMetadataRecords;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.server.log.remote.metadata.storage.serialization.RemoteLogMetadataSerde;
import org.apache.kafka.server.log.remote.storage.RemoteLogMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentId;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadataUpdate;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What Kafka knows of the segments, and what is done with those that it does not know. */
class KafkaMetadataTest {

  private static final TopicPartition ZERO = new TopicPartition(KafkaMetadata.TOPIC, 0);
  private static final TopicPartition ONE = new TopicPartition(KafkaMetadata.TOPIC, 1);
  private static final TopicIdPartition ORDERS =
      new TopicIdPartition(Uuid.fromString("AAAAAAAAAAAAAAAAAAAAAQ"), 3, "orders");
  private static final Duration DAY = Duration.ofDays(1);

  @TempDir private Path directory;

  private final MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("earliest");
  private final RemoteLogMetadataSerde serde = new RemoteLogMetadataSerde();
  private final AtomicLong nanos = new AtomicLong();
  private final AtomicLong offset = new AtomicLong();

  @Test
  void theLastRecordOfASegmentHolds() throws IOException {
    KafkaView view =
        read(
            started(1),
            started(2),
            update(2, RemoteLogSegmentState.COPY_SEGMENT_FINISHED),
            started(3),
            update(3, RemoteLogSegmentState.COPY_SEGMENT_FINISHED),
            update(3, RemoteLogSegmentState.DELETE_SEGMENT_STARTED),
            started(4),
            update(4, RemoteLogSegmentState.COPY_SEGMENT_FINISHED),
            update(4, RemoteLogSegmentState.DELETE_SEGMENT_STARTED),
            update(4, RemoteLogSegmentState.DELETE_SEGMENT_FINISHED));

    assertThat(view.clusterId()).isEqualTo(RemoteStores.CLUSTER);
    assertThat(view.gap()).isEmpty();
    assertThat(view.states())
        .containsOnly(
            Map.entry(id(1), State.UNFINISHED),
            Map.entry(id(2), State.COPIED),
            Map.entry(id(3), State.DELETING),
            Map.entry(id(4), State.DELETED));
  }

  @Test
  void aClusterThatDoesNotAnswerIsNamedSoon() {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", "127.0.0.1:1");

    assertThatThrownBy(() -> KafkaMetadata.clusterId(properties, Duration.ofSeconds(1)))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("127.0.0.1:1: found no Kafka cluster that answers (Timed out");
  }

  /** As Kafka itself does with a transition that it does not know. */
  @Test
  void whatKafkaHasBegunToDeleteDoesNotComeBack() throws IOException {
    KafkaView view =
        read(
            started(1),
            update(1, RemoteLogSegmentState.DELETE_SEGMENT_STARTED),
            update(1, RemoteLogSegmentState.COPY_SEGMENT_FINISHED),
            started(2),
            update(2, RemoteLogSegmentState.DELETE_SEGMENT_STARTED),
            update(2, RemoteLogSegmentState.DELETE_SEGMENT_FINISHED),
            update(2, RemoteLogSegmentState.COPY_SEGMENT_FINISHED));

    assertThat(view.states())
        .containsOnly(Map.entry(id(1), State.DELETING), Map.entry(id(2), State.DELETED));
    assertThat(view.segments()).containsOnlyKeys(id(1));
  }

  @Test
  void recordsOfALaterVersionAreReported() throws IOException {
    topic();
    consumer.updateEndOffsets(Map.of(ZERO, 1L, ONE, 0L));
    consumer.schedulePollTask(() -> consumer.addRecord(record(new byte[] {77, 0, 1})));

    assertThat(metadata().readAll("c").gap()).get().asString().startsWith("1 records of");
  }

  @Test
  void endsWhereNothingComes() {
    topic();
    consumer.updateEndOffsets(Map.of(ZERO, 1L, ONE, 0L));

    assertThatThrownBy(() -> metadata().readAll("c"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("found no record for 60 s before its end");
  }

  @Test
  void saysThatThereIsNoSuchTopic() {
    assertThatThrownBy(() -> metadata().readAll("c"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("cluster c: found no topic __remote_log_metadata");
  }

  @Test
  void whatKafkaDoesNotNeedIsFoundAndRemovedOnlyOnRequest() throws Exception {
    RemoteStores stores = new RemoteStores(directory);
    Path known = stores.copy("orders", 3, 0, 1, DAY.multipliedBy(2));
    Path unknown = stores.copy("orders", 3, 100, 2, DAY.multipliedBy(2));
    Path young = stores.copy("orders", 3, 200, 3, Duration.ofHours(1));
    Path unfinished = stores.copy("orders", 3, 300, 4, DAY.multipliedBy(2));
    Path deleted = stores.copy("orders", 3, 400, 5, DAY.multipliedBy(2));
    Path deleting = stores.copy("orders", 3, 500, 6, DAY.multipliedBy(2));
    Path cold = stores.copy("orders", 3, 600, 7, DAY.multipliedBy(2));
    Path unused = Files.writeString(cold.resolve("cold.json"), "{}");
    Path unfinishedAlone = stores.copy("orders", 3, 700, 9, DAY.multipliedBy(2));
    Path alsoUnknown = stores.alsoInTheSecondLevel(RemoteStores.key("orders", 3, 100, 2));
    Path again = stores.copy("orders", 3, 300, 8, DAY.multipliedBy(2));
    Path unfinishedWhoseOtherCopyIsLost = stores.copy("orders", 3, 800, 10, DAY.multipliedBy(2));
    StoreInventory inventory = inventory(stores);
    KafkaView view =
        new KafkaView(
            RemoteStores.CLUSTER,
            Map.of(
                id(1), State.COPIED,
                id(4), State.UNFINISHED,
                id(5), State.DELETED,
                id(6), State.DELETING,
                id(8), State.COPIED,
                id(9), State.UNFINISHED,
                id(10), State.UNFINISHED,
                id(11), State.COPIED),
            Map.of(id(8), known(300, 8), id(9), known(700, 9), id(11), known(800, 11)),
            Optional.empty());

    KafkaComparison comparison = compare(inventory, view);
    assertThat(comparison.found()).isTrue();
    assertThat(List.of(known, unknown, young, unfinished, deleted, deleting, alsoUnknown))
        .allSatisfy(path -> assertThat(path).exists());

    comparison.remove();

    // Kafka notes a copy before it begins, and makes one that has not ended again: where it knows
    // nothing of that its record is in doubt. Where the other copy is lost this is the only one.
    assertThat(List.of(known, young, cold, unknown, alsoUnknown, again))
        .allSatisfy(path -> assertThat(path).exists());
    assertThat(List.of(unfinishedAlone, unfinishedWhoseOtherCopyIsLost))
        .allSatisfy(path -> assertThat(path).exists());
    // Of a deleted topic Kafka does not try a deletion again that has failed.
    assertThat(List.of(unfinished, deleted, deleting))
        .allSatisfy(path -> assertThat(path).doesNotExist());
    assertThat(stores.ssd.resolve("trash")).isEmptyDirectory();
    assertThat(inventory(stores).segments())
        .extracting(Segment::key)
        .extracting(key -> key.startOffset())
        .doesNotContain(400L, 500L);
  }

  @Test
  void whatKafkaMayAskForAndNoDirectoryHasIsNamed() throws Exception {
    RemoteStores stores = new RemoteStores(directory);
    Path there = stores.copy("orders", 3, 0, 1, DAY.multipliedBy(2));
    KafkaView view =
        read(
            started(1),
            update(1, RemoteLogSegmentState.COPY_SEGMENT_FINISHED),
            started(2),
            update(2, RemoteLogSegmentState.COPY_SEGMENT_FINISHED),
            started(3),
            started(4),
            update(4, RemoteLogSegmentState.COPY_SEGMENT_FINISHED),
            update(4, RemoteLogSegmentState.DELETE_SEGMENT_STARTED));

    Map<String, KnownToKafka> missing = view.missingIn(inventory(stores), key -> true);

    assertThat(there).exists();
    assertThat(missing).containsOnlyKeys(id(2));
    assertThat(view.missingIn(inventory(stores), key -> key.topic().equals("audit"))).isEmpty();
    KafkaComparison comparison =
        KafkaComparison.of(
            inventory(stores),
            view,
            List.copyOf(missing.values()),
            DAY,
            Instant.now().toEpochMilli());
    assertThat(comparison.found()).isTrue();
    StringWriter out = new StringWriter();
    comparison.print(new PrintWriter(out, true));
    assertThat(out.toString())
        .contains("  lost: orders-3, offsets ")
        .contains("(remote segment " + id(2) + "): in no directory");
  }

  /** Kafka may be about to note its end. */
  @Test
  void aCopyThatKafkaBeganIsLeftAloneForAnHourAtLeast() throws Exception {
    RemoteStores stores = new RemoteStores(directory);
    Path unfinished = stores.copy("orders", 3, 300, 4, Duration.ofMinutes(50));
    Path older = stores.copy("orders", 3, 400, 5, Duration.ofMinutes(70));
    Path deleted = stores.copy("orders", 3, 500, 6, Duration.ofMinutes(50));
    Path unusedAgain = stores.copy("orders", 3, 300, 7, Duration.ofMinutes(50));
    Path unusedAgainToo = stores.copy("orders", 3, 400, 8, Duration.ofMinutes(50));
    KafkaView view =
        new KafkaView(
            RemoteStores.CLUSTER,
            Map.of(
                id(4), State.UNFINISHED,
                id(5), State.UNFINISHED,
                id(6), State.DELETED,
                id(7), State.COPIED,
                id(8), State.COPIED),
            Map.of(id(7), known(300, 7), id(8), known(400, 8)),
            Optional.empty());

    long now = Instant.now().toEpochMilli();
    KafkaComparison.of(inventory(stores), view, List.of(), Duration.ofSeconds(1), now).remove();

    assertThat(unfinished).exists();
    assertThat(List.of(older, deleted)).allSatisfy(path -> assertThat(path).doesNotExist());
  }

  @Test
  void aCopyUnderWayIsNotReported() throws Exception {
    RemoteStores stores = new RemoteStores(directory);
    Path unused = stores.copy("orders", 3, 300, 4, Duration.ofMinutes(50));
    KafkaView view =
        new KafkaView(
            RemoteStores.CLUSTER,
            Map.of(id(4), State.UNFINISHED),
            Map.of(id(4), known(300, 4)),
            Optional.empty());

    long now = Instant.now().toEpochMilli();
    KafkaComparison comparison =
        KafkaComparison.of(inventory(stores), view, List.of(), Duration.ofSeconds(1), now);

    assertThat(comparison.found()).isFalse();
  }

  @Test
  void nothingIsRemovedWhereNotAllOfKafkasRecordWasRead() throws Exception {
    RemoteStores stores = new RemoteStores(directory);
    Path deleted = stores.copy("orders", 3, 100, 2, DAY.multipliedBy(2));
    KafkaComparison comparison =
        compare(
            inventory(stores),
            new KafkaView(
                RemoteStores.CLUSTER,
                Map.of(id(2), State.DELETED),
                Map.of(),
                Optional.of("half is gone")));

    assertThatThrownBy(comparison::remove)
        .isInstanceOf(CommandException.class)
        .hasMessageContaining("half is gone")
        .hasMessageContaining("nothing was removed");
    assertThat(deleted).exists();
  }

  @Test
  void anotherClusterIsRefused() throws Exception {
    RemoteStores stores = new RemoteStores(directory);
    Path unused = stores.copy("orders", 3, 100, 2, DAY.multipliedBy(2));

    assertThatThrownBy(
            () ->
                compare(
                    inventory(stores),
                    new KafkaView("cluster-b", Map.of(), Map.of(), Optional.empty())))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining("found cluster cluster-b, expected cluster-a");
  }

  /** A copied cluster has the same ids. */
  @Test
  void aDirectoryOfAnotherStoreIsNamedAndLeftAlone(@TempDir Path elsewhere) throws Exception {
    RemoteStores stores = new RemoteStores(directory);
    Path deleted = stores.copy("orders", 3, 100, 2, DAY.multipliedBy(2));
    RemoteStores others = new RemoteStores(elsewhere, "cluster-b");
    Path other = others.copy("orders", 3, 100, 2, DAY.multipliedBy(2));
    StoreInventory inventory =
        StoreInventory.of(
            List.of(
                new StorePlaces.Place(Optional.of("ssd"), stores.ssd),
                new StorePlaces.Place(Optional.of("hdd"), others.ssd)),
            key -> true);

    compare(
            inventory,
            new KafkaView(
                RemoteStores.CLUSTER, Map.of(id(2), State.DELETED), Map.of(), Optional.empty()))
        .remove();

    assertThat(inventory.findings())
        .singleElement()
        .asString()
        .contains("found a directory of store");
    assertThat(deleted).doesNotExist();
    assertThat(other).exists();
  }

  private static KafkaComparison compare(StoreInventory inventory, KafkaView view)
      throws CommandException {
    return KafkaComparison.of(inventory, view, List.of(), DAY, Instant.now().toEpochMilli());
  }

  private static StoreInventory inventory(RemoteStores stores)
      throws IOException, InterruptedException {
    return StoreInventory.of(
        List.of(
            new StorePlaces.Place(Optional.of("ssd"), stores.ssd),
            new StorePlaces.Place(Optional.of("hdd"), stores.hdd)),
        key -> true);
  }

  private KafkaMetadata metadata() {
    // Each look at the clock is ten seconds later.
    return new KafkaMetadata(
        consumer,
        RemoteMetadataRecords.reader().orElseThrow(),
        () -> nanos.addAndGet(Duration.ofSeconds(10).toNanos()));
  }

  private KafkaView read(RemoteLogMetadata... records) throws IOException {
    topic();
    consumer.updateEndOffsets(Map.of(ZERO, (long) records.length, ONE, 0L));
    for (RemoteLogMetadata metadata : records) {
      byte[] bytes = serde.serialize(metadata);
      consumer.schedulePollTask(() -> consumer.addRecord(record(bytes)));
    }
    return metadata().readAll(RemoteStores.CLUSTER);
  }

  private void topic() {
    consumer.updatePartitions(
        KafkaMetadata.TOPIC,
        List.of(
            new PartitionInfo(KafkaMetadata.TOPIC, 0, null, null, null),
            new PartitionInfo(KafkaMetadata.TOPIC, 1, null, null, null)));
    consumer.updateBeginningOffsets(Map.of(ZERO, 0L, ONE, 0L));
  }

  private ConsumerRecord<byte[], byte[]> record(byte[] value) {
    return new ConsumerRecord<>(
        KafkaMetadata.TOPIC, 0, offset.getAndIncrement(), new byte[0], value);
  }

  private static KnownToKafka known(long startOffset, long number) {
    return new KnownToKafka(RemoteStores.key("orders", 3, startOffset, number), startOffset + 99);
  }

  private static String id(long number) {
    return RemoteStores.id(number);
  }

  private static RemoteLogSegmentId segment(long number) {
    return new RemoteLogSegmentId(ORDERS, Uuid.fromString(id(number)));
  }

  private static RemoteLogMetadata started(long number) {
    return new RemoteLogSegmentMetadata(segment(number), 0, 99, 1, 1, 1, 1000, Map.of(0, 0L));
  }

  private static RemoteLogMetadata update(long number, RemoteLogSegmentState state) {
    return new RemoteLogSegmentMetadataUpdate(segment(number), 2, Optional.empty(), state, 1);
  }
}
