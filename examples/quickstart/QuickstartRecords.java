import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * The records of the quickstart: makes the payloads that Kafka's {@code ProducerPerformance} sends, and checks every
 * record that comes back.
 *
 * <p>Run from its source by {@code run.sh}, with Kafka's jars on the class path:
 *
 * <pre>
 * payloads FILE COUNT SIZE           writes COUNT different payloads of SIZE bytes, one per line
 * check BOOTSTRAP FILE DIGESTS TOPIC=RECORDS[+RECORDS...]...
 *                                    reads the topics from the beginning and checks them
 * </pre>
 *
 * <p>What is checked, of every record: its own checksum, which is part of the payload; its offset, which must follow
 * its predecessor's. Of every topic: each payload must occur exactly as often as it was sent. {@code
 * ProducerPerformance} picks its payloads with {@code SplittableRandom(0)}, so what it has sent is known without asking
 * it: a lost record and a duplicated one are both found, even when they make up for one another in number. Of every
 * partition: count and checksum over all offsets and payloads. They are written to DIGESTS when that file does not
 * exist, and compared with it when it does, which finds a record that has changed its place.
 *
 * <p>Exit code 0 and one line {@code records=… bytes=…} when all is well; 1 and one line with the reason otherwise.
 */
final class QuickstartRecords {

  /** Bytes of a payload before its letters: number, space, checksum, space. */
  private static final int HEADER = 8 + 1 + 8 + 1;

  /** How long reading may make no progress. */
  private static final Duration STALLED = Duration.ofSeconds(30);

  private QuickstartRecords() {}

  public static void main(String[] arguments) throws IOException {
    try {
      if (arguments.length == 4 && arguments[0].equals("payloads")) {
        writePayloads(
            Path.of(arguments[1]), Integer.parseInt(arguments[2]), Integer.parseInt(arguments[3]));
      } else if (arguments.length >= 5 && arguments[0].equals("check")) {
        check(
            arguments[1],
            Path.of(arguments[2]),
            Path.of(arguments[3]),
            Arrays.asList(arguments).subList(4, arguments.length));
      } else {
        throw new CheckFailure(
            "usage: payloads FILE COUNT SIZE | check BOOTSTRAP FILE DIGESTS TOPIC=RECORDS...");
      }
    } catch (CheckFailure e) {
      System.out.println(e.getMessage());
      System.exit(1);
    }
  }

  private static void writePayloads(Path file, int count, int size) throws IOException {
    if (size <= HEADER) {
      throw new CheckFailure("a payload has more than " + HEADER + " bytes, not " + size);
    }
    SplittableRandom random = new SplittableRandom(1);
    byte[] letters = new byte[size - HEADER];
    try (BufferedWriter out = Files.newBufferedWriter(file, StandardCharsets.US_ASCII)) {
      for (int number = 0; number < count; number++) {
        for (int i = 0; i < letters.length; i++) {
          letters[i] = (byte) ('A' + random.nextInt(26));
        }
        out.write(String.format("%08x %08x ", number, checksum(number, letters, 0)));
        out.write(new String(letters, StandardCharsets.US_ASCII));
        out.write('\n');
      }
    }
  }

  private static void check(String bootstrap, Path payloads, Path digests, List<String> topics)
      throws IOException {
    int distinct;
    try (var lines = Files.lines(payloads, StandardCharsets.US_ASCII)) {
      distinct = (int) lines.count();
    }
    Map<TopicPartition, PartitionDigest> found = new TreeMap<>(QuickstartRecords::compare);
    long records = 0;
    long bytes = 0;
    for (String topic : topics) {
      String[] nameAndRuns = topic.split("=", 2);
      int[] missing = sent(nameAndRuns[1], distinct);
      Map<TopicPartition, PartitionDigest> read = consume(bootstrap, nameAndRuns[0], missing);
      for (int number = 0; number < missing.length; number++) {
        if (missing[number] != 0) {
          throw new CheckFailure(
              nameAndRuns[0]
                  + ": payload "
                  + number
                  + (missing[number] > 0
                      ? " was acknowledged " + missing[number] + " times more than it was read"
                      : " was read " + -missing[number] + " times more than it was sent"));
        }
      }
      found.putAll(read);
      for (PartitionDigest digest : read.values()) {
        records += digest.records;
        bytes += digest.bytes;
      }
    }
    List<String> lines = new ArrayList<>();
    found.forEach((partition, digest) -> lines.add(partition + " " + digest));
    if (Files.exists(digests)) {
      compare(Files.readAllLines(digests, StandardCharsets.US_ASCII), lines);
    } else {
      Files.write(digests, lines, StandardCharsets.US_ASCII);
    }
    System.out.println("records=" + records + " bytes=" + bytes);
  }

  /** How often each payload was sent by runs of {@code ProducerPerformance}: {@code "1000+500"}. */
  private static int[] sent(String runs, int distinct) {
    int[] times = new int[distinct];
    for (String run : runs.split("\\+")) {
      SplittableRandom random = new SplittableRandom(0);
      for (long i = Long.parseLong(run); i > 0; i--) {
        times[random.nextInt(distinct)]++;
      }
    }
    return times;
  }

  private static Map<TopicPartition, PartitionDigest> consume(
      String bootstrap, String topic, int[] missing) {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", bootstrap);
    properties.put("enable.auto.commit", "false");
    properties.put("auto.offset.reset", "none");
    properties.put("fetch.max.bytes", Integer.toString(16 << 20));
    properties.put("max.partition.fetch.bytes", Integer.toString(4 << 20));
    properties.put("max.poll.records", "10000");
    Map<TopicPartition, PartitionDigest> digests = new TreeMap<>(QuickstartRecords::compare);
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      for (PartitionInfo info : consumer.partitionsFor(topic)) {
        digests.put(new TopicPartition(topic, info.partition()), new PartitionDigest());
      }
      consumer.assign(digests.keySet());
      consumer.seekToBeginning(digests.keySet());
      Map<TopicPartition, Long> ends = consumer.endOffsets(digests.keySet());
      long left = ends.values().stream().mapToLong(Long::longValue).sum();
      long lastProgress = System.nanoTime();
      while (left > 0) {
        ConsumerRecords<byte[], byte[]> batch = consumer.poll(Duration.ofSeconds(1));
        for (ConsumerRecord<byte[], byte[]> record : batch) {
          TopicPartition partition = new TopicPartition(record.topic(), record.partition());
          digests.get(partition).add(record, missing);
        }
        left -= batch.count();
        if (!batch.isEmpty()) {
          lastProgress = System.nanoTime();
        } else if (System.nanoTime() - lastProgress > STALLED.toNanos()) {
          throw new CheckFailure(
              topic + ": " + left + " records did not come within " + STALLED.toSeconds() + " s");
        }
      }
      digests.forEach(
          (partition, digest) -> {
            if (digest.records != ends.get(partition)) {
              throw new CheckFailure(
                  partition
                      + ": found "
                      + digest.records
                      + " records, expected "
                      + ends.get(partition));
            }
          });
    }
    return digests;
  }

  private static void compare(List<String> before, List<String> after) {
    for (int i = 0; i < Math.max(before.size(), after.size()); i++) {
      String expected = i < before.size() ? before.get(i) : "nothing";
      String found = i < after.size() ? after.get(i) : "nothing";
      if (!expected.equals(found)) {
        throw new CheckFailure("before the kill: " + expected + "; after it: " + found);
      }
    }
  }

  private static int compare(TopicPartition a, TopicPartition b) {
    int byTopic = a.topic().compareTo(b.topic());
    return byTopic != 0 ? byTopic : Integer.compare(a.partition(), b.partition());
  }

  private static int checksum(int number, byte[] bytes, int from) {
    CRC32C crc = new CRC32C();
    for (int shift = 24; shift >= 0; shift -= 8) {
      crc.update(number >>> shift);
    }
    crc.update(bytes, from, bytes.length - from);
    return (int) crc.getValue();
  }

  /** Count, bytes and checksum of one partition, in the order of its offsets. */
  private static final class PartitionDigest {
    private final CRC32C crc = new CRC32C();
    private long records;
    private long bytes;

    void add(ConsumerRecord<byte[], byte[]> record, int[] missing) {
      String name = record.topic() + "-" + record.partition() + " offset " + record.offset();
      if (record.offset() != records) {
        throw new CheckFailure(name + ": expected offset " + records);
      }
      byte[] payload = record.value();
      int number = -1;
      if (payload != null && payload.length > HEADER) {
        try {
          number = hexadecimal(payload, 0);
          if (hexadecimal(payload, 9) != checksum(number, payload, HEADER)) {
            number = -1;
          }
        } catch (NumberFormatException e) {
          number = -1;
        }
      }
      if (number < 0 || number >= missing.length) {
        throw new CheckFailure(name + ": the payload's checksum is wrong");
      }
      missing[number]--;
      crc.update(payload);
      records++;
      bytes += payload.length;
    }

    private static int hexadecimal(byte[] payload, int at) {
      return Integer.parseUnsignedInt(
          new String(payload, at, 8, StandardCharsets.US_ASCII), /* radix= */ 16);
    }

    @Override
    public String toString() {
      return String.format("records=%d bytes=%d crc32c=%08x", records, bytes, crc.getValue());
    }
  }

  private static final class CheckFailure extends RuntimeException {
    private static final long serialVersionUID = 1;

    CheckFailure(String message) {
      super(message);
    }
  }
}
