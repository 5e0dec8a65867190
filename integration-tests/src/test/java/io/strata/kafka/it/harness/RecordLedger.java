package io.strata.kafka.it.harness;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.zip.CRC32C;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Knows what was sent to one topic and what of it was acknowledged, and checks by a consumer that
 * exactly that is there: every record whole (its value carries its number, and a checksum of topic,
 * partition and value), in order, none lost, none twice.
 *
 * <p>Thread safety: sending and verifying by one thread; acknowledgements come from the producer's.
 */
public final class RecordLedger {

  private static final int HEADER = Long.BYTES + Integer.BYTES;
  private static final Duration POLL = Duration.ofMillis(500);
  private static final long VERIFY_LIMIT_NANOS = Duration.ofMinutes(10).toNanos();

  private final String topic;
  private final int partitions;
  private final Random random;
  private final Map<Integer, Partition> ledger = new HashMap<>();

  public RecordLedger(String topic, int partitions, long seed) {
    this.topic = topic;
    this.partitions = partitions;
    this.random = new Random(seed);
    for (int p = 0; p < partitions; p++) {
      ledger.put(p, new Partition());
    }
  }

  /** What is known of one partition, by record number. */
  private static final class Partition {
    private final List<Integer> checksums = new ArrayList<>();
    private final BitSet acknowledged = new BitSet();
    private final BitSet failed = new BitSet();

    synchronized int sent() {
      return checksums.size();
    }

    synchronized int checksum(int number) {
      return checksums.get(number);
    }

    synchronized void add(int checksum) {
      checksums.add(checksum);
    }

    synchronized void completed(int number, boolean success) {
      (success ? acknowledged : failed).set(number);
    }

    synchronized int acknowledged() {
      return acknowledged.cardinality();
    }
  }

  public String topic() {
    return topic;
  }

  public int partitions() {
    return partitions;
  }

  /** A producer with acks=all and idempotence, Kafka's defaults, apart from the given settings. */
  public static Producer<byte[], byte[]> producer(String bootstrap, Map<String, ?> settings) {
    Map<String, Object> all = new HashMap<>();
    all.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
    all.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    all.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    // A broker may take its time to start again on a busy machine.
    all.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, "300000");
    all.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, "300000");
    all.putAll(settings);
    return new KafkaProducer<>(all);
  }

  /** A consumer that reads from the beginning and commits nothing, apart from the settings. */
  public static Consumer<byte[], byte[]> consumer(String bootstrap, Map<String, ?> settings) {
    Map<String, Object> all = new HashMap<>();
    all.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
    all.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
    all.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
    all.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    all.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
    all.putAll(settings);
    return new KafkaConsumer<>(all);
  }

  /** Sends one record of about the size to the partition; does not wait. */
  public void send(Producer<byte[], byte[]> producer, int partition, int size) {
    send(producer, partition, size, System.currentTimeMillis());
  }

  /** Sends one record of the time; does not wait. */
  public void send(Producer<byte[], byte[]> producer, int partition, int size, long timestamp) {
    Partition target = partition(partition);
    int number = target.sent();
    byte[] value = value(partition, number, Math.max(size, HEADER));
    target.add(ByteBuffer.wrap(value).getInt(Long.BYTES));
    byte[] key = ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
    Future<RecordMetadata> unused = // the callback has the outcome
        producer.send(
            new ProducerRecord<>(topic, partition, timestamp, key, value),
            (metadata, exception) -> target.completed(number, exception == null));
  }

  /** Sends so many records round robin, with Kafka's defaults, and waits for all of them. */
  public void produce(String bootstrap, int records, int size) {
    produce(bootstrap, records, size, Map.of());
  }

  /** Sends so many records round robin and waits until every one is acknowledged. */
  public void produce(String bootstrap, int records, int size, Map<String, ?> settings) {
    try (Producer<byte[], byte[]> producer = producer(bootstrap, settings)) {
      for (int i = 0; i < records; i++) {
        send(producer, i % partitions, size);
      }
      producer.flush();
    }
    assertNoneFailed();
  }

  /** Every record sent so far was acknowledged. */
  public void assertNoneFailed() {
    ledger.forEach(
        (number, partition) ->
            assertThat(partition.acknowledged())
                .as("acknowledged records of %s-%d", topic, number)
                .isEqualTo(partition.sent()));
  }

  /** How many were acknowledged. */
  public long acknowledged() {
    return ledger.values().stream().mapToLong(Partition::acknowledged).sum();
  }

  /** What a verification read. */
  public record Verified(long records, long bytes) {}

  /** Reads the topic from its beginning and compares. */
  public Verified verify(String bootstrap) {
    return verify(bootstrap, Map.of());
  }

  /** What may be missing of the acknowledged records. */
  private enum Missing {
    NONE,
    OLDEST,
    NEWEST
  }

  /**
   * As {@link #verify(String)}, where retention may have removed the oldest records: from the first
   * one that is there, all are.
   */
  public Verified verifyNewest(String bootstrap) {
    return verifyNewest(bootstrap, 0);
  }

  /**
   * As {@link #verifyNewest(String)}, where retention leaves so many bytes of each partition, or
   * all: at least half of them are there, since the rest may be keys and batches.
   */
  public Verified verifyNewest(String bootstrap, long retentionBytes) {
    return verify(bootstrap, Map.of(), Missing.OLDEST, retentionBytes / 2);
  }

  /**
   * As {@link #verify(String)}, where a medium has lost the newest records: up to the last one that
   * is there, all are.
   */
  public Verified verifyOldest(String bootstrap) {
    return verify(bootstrap, Map.of(), Missing.NEWEST, 0);
  }

  /**
   * Reads the topic from its beginning to its end and compares: every acknowledged record is there
   * exactly once; one whose send failed is there at most once; each partition is in the order of
   * sending; every value is whole.
   */
  public Verified verify(String bootstrap, Map<String, ?> settings) {
    return verify(bootstrap, settings, Missing.NONE, 0);
  }

  /** What a medium has left: records that are there, and acknowledged ones that are not. */
  public record Left(long records, long lost) {}

  /**
   * As {@link #verify(String)}, but counts the acknowledged records that are lost. Also an error:
   * out of order, twice, not whole, never sent.
   */
  public Left left(String bootstrap) {
    Map<Integer, List<Integer>> found = new TreeMap<>();
    Map<Integer, Long> unused = read(bootstrap, Map.of(), found);
    long records = 0;
    long lost = 0;
    for (int p = 0; p < partitions; p++) {
      List<Integer> numbers = found.getOrDefault(p, List.of());
      records += numbers.size();
      lost += lost(p, seen(p, numbers)).cardinality();
    }
    return new Left(records, lost);
  }

  /** Reads the numbers of the topic's records; returns the bytes of their values; by partition. */
  private Map<Integer, Long> read(
      String bootstrap, Map<String, ?> settings, Map<Integer, List<Integer>> found) {
    Map<Integer, Long> bytes = new HashMap<>();
    readAll(
        bootstrap,
        topic,
        partitions,
        settings,
        consumed -> {
          bytes.merge(consumed.partition(), (long) consumed.value().length, Long::sum);
          found.computeIfAbsent(consumed.partition(), p -> new ArrayList<>()).add(number(consumed));
        });
    return bytes;
  }

  /** The number of a record that this ledger has sent under it; else an error. */
  private int number(ConsumerRecord<byte[], byte[]> consumed) {
    int number = check(consumed);
    Partition sent = partition(consumed.partition());
    int checksum = ByteBuffer.wrap(consumed.value()).getInt(Long.BYTES);
    if (number >= sent.sent() || sent.checksum(number) != checksum) {
      throw new AssertionError(
          "%s-%d: the value at offset %d is not what was sent as record %d"
              .formatted(topic, consumed.partition(), consumed.offset(), number));
    }
    return number;
  }

  private Verified verify(
      String bootstrap, Map<String, ?> settings, Missing missing, long leastBytes) {
    Map<Integer, List<Integer>> found = new TreeMap<>();
    Map<Integer, Long> bytes = read(bootstrap, settings, found);
    long records = 0;
    for (int p = 0; p < partitions; p++) {
      List<Integer> numbers = found.getOrDefault(p, List.of());
      compare(p, numbers, missing);
      if (missing == Missing.OLDEST && !numbers.contains(0)) {
        assertThat(bytes.getOrDefault(p, 0L))
            .as("bytes of %s-%d that retention has left", topic, p)
            .isGreaterThanOrEqualTo(leastBytes);
      }
      records += numbers.size();
    }
    return new Verified(records, bytes.values().stream().mapToLong(Long::longValue).sum());
  }

  /** The numbers as a set: each partition is in the order of sending, and each was sent. */
  private BitSet seen(int number, List<Integer> found) {
    String name = topic + "-" + number;
    BitSet seen = new BitSet();
    int last = -1;
    for (int record : found) {
      if (record <= last) {
        throw new AssertionError(
            name + ": record " + record + " after record " + last + ": out of order, or twice");
      }
      last = record;
      seen.set(record);
    }
    assertThat(seen.length())
        .as("records of %s that were never sent", name)
        .isLessThanOrEqualTo(partition(number).sent());
    return seen;
  }

  private BitSet lost(int number, BitSet seen) {
    BitSet lost = (BitSet) partition(number).acknowledged.clone();
    lost.andNot(seen);
    return lost;
  }

  private void compare(int number, List<Integer> found, Missing missing) {
    BitSet seen = seen(number, found);
    BitSet lost = lost(number, seen);
    if (missing == Missing.OLDEST && !found.isEmpty()) {
      lost.clear(0, found.get(0));
    } else if (missing == Missing.NEWEST) {
      lost.clear(seen.length(), Math.max(seen.length(), lost.length()));
    }
    assertThat(lost.cardinality())
        .as(
            "acknowledged records of %s-%d that are lost, the first being %s",
            topic, number, lost.nextSetBit(0))
        .isZero();
  }

  /** Where the values of partition 0 begin in a file that holds them as they were sent. */
  public Map<Integer, Long> positionsIn(Path file) throws IOException {
    Partition sought = partition(0);
    Map<Integer, Long> positions = new HashMap<>();
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      ByteBuffer bytes = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
      for (int at = 0; at < bytes.limit() - HEADER; at++) {
        long number = bytes.getLong(at);
        if (number >= 0
            && number < sought.sent()
            && bytes.getInt(at + Long.BYTES) == sought.checksum((int) number)) {
          positions.put((int) number, (long) at);
        }
      }
    }
    return positions;
  }

  /** The number of a record whose value is whole, and of its topic and partition; else an error. */
  public static int check(ConsumerRecord<byte[], byte[]> consumed) {
    ByteBuffer value = ByteBuffer.wrap(consumed.value());
    long number = value.getLong();
    int sum = value.getInt();
    CRC32C crc = checksum(consumed.topic(), consumed.partition());
    crc.update(consumed.value(), HEADER, consumed.value().length - HEADER);
    if ((int) crc.getValue() != sum || ByteBuffer.wrap(consumed.key()).getInt() != number) {
      throw new AssertionError(
          consumed.topic()
              + "-"
              + consumed.partition()
              + ": value at offset "
              + consumed.offset()
              + " is not what was sent");
    }
    return Math.toIntExact(number);
  }

  /** The number of the first record that a consumer gets, which is whole. */
  public static int first(Consumer<byte[], byte[]> consumer) {
    long end = System.nanoTime() + Waiting.LIMIT.toNanos();
    while (System.nanoTime() < end) {
      for (ConsumerRecord<byte[], byte[]> found : consumer.poll(POLL)) {
        return check(found);
      }
    }
    throw new AssertionError("no record within " + Waiting.LIMIT);
  }

  /** Reads a topic from its beginning to its end. */
  public static List<ConsumerRecord<byte[], byte[]>> readAll(
      String bootstrap, String topic, int partitions, Map<String, ?> settings) {
    List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
    readAll(bootstrap, topic, partitions, settings, records::add);
    return records;
  }

  private static void readAll(
      String bootstrap,
      String topic,
      int partitions,
      Map<String, ?> settings,
      java.util.function.Consumer<ConsumerRecord<byte[], byte[]>> each) {
    List<TopicPartition> all = new ArrayList<>();
    for (int p = 0; p < partitions; p++) {
      all.add(new TopicPartition(topic, p));
    }
    try (Consumer<byte[], byte[]> consumer = consumer(bootstrap, settings)) {
      consumer.assign(all);
      consumer.seekToBeginning(all);
      Map<TopicPartition, Long> ends = consumer.endOffsets(all);
      long deadline = System.nanoTime() + VERIFY_LIMIT_NANOS;
      while (all.stream().anyMatch(tp -> consumer.position(tp) < ends.getOrDefault(tp, 0L))) {
        if (System.nanoTime() > deadline) {
          throw new AssertionError("reading " + topic + " to " + ends + " did not end in time");
        }
        ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
        records.forEach(each);
      }
    }
  }

  private Partition partition(int number) {
    Partition partition = ledger.get(number);
    if (partition == null) {
      throw new IllegalArgumentException(topic + " has no partition " + number);
    }
    return partition;
  }

  /** Kafka's batches do not say where they belong: another partition's record is not this one's. */
  private static CRC32C checksum(String topic, int partition) {
    CRC32C crc = new CRC32C();
    crc.update((topic + "-" + partition).getBytes(StandardCharsets.UTF_8));
    return crc;
  }

  private byte[] value(int partition, int number, int size) {
    byte[] payload = new byte[size - HEADER];
    random.nextBytes(payload);
    CRC32C crc = checksum(topic, partition);
    crc.update(payload);
    return ByteBuffer.allocate(size)
        .putLong(number)
        .putInt((int) crc.getValue())
        .put(payload)
        .array();
  }
}
