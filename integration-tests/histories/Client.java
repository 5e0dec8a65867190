import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.zip.CRC32;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The Java client's part of the histories; main.go starts it and reads what it prints. Commands:
 * {@code start PLAIN TXN SEED RECORDS TRANSACTIONS}, {@code finish} (producers are done; the reader
 * ends). Times are of the monotonic clock, as Go's.
 */
final class Client {
  private static final int PLAIN_PARTITIONS = 3;
  private static final int TXN_PARTITIONS = 2;

  private final String bootstrap;
  private final String plain;
  private final String txn;
  private final long seed;
  private volatile boolean ended;

  private Client(String bootstrap, String[] command) {
    this.bootstrap = bootstrap;
    plain = command[1];
    txn = command[2];
    seed = Long.parseLong(command[3]);
  }

  public static void main(String[] arguments) throws Exception {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    Client client = null;
    List<Thread> producers = new ArrayList<>();
    Thread reader = null;
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] command = line.split(" ");
      if (command[0].equals("start")) {
        client = new Client(arguments[0], command);
        Client c = client;
        int records = Integer.parseInt(command[4]);
        int transactions = Integer.parseInt(command[5]);
        producers =
            List.of(
                thread("FAILED", () -> c.produce(records)),
                thread("FAILED", () -> c.transactions(transactions)));
        reader = thread("READER", c::read);
      } else {
        for (Thread producer : producers) {
          producer.join();
        }
        client.ended = true;
        reader.join();
        say("DONE");
      }
    }
  }

  private interface Work {
    void run() throws Exception;
  }

  /** Says with which word it has failed, if it has. */
  private static Thread thread(String failure, Work work) {
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (Exception e) {
                say(failure + " " + String.valueOf(e).replace('\n', ' '));
              }
            });
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private static synchronized void say(String line) {
    System.out.println(line);
  }

  /** The record of an identifier; value() in load.go makes the same. */
  static byte[] value(String id) {
    int hash = 0x811c9dc5;
    for (byte b : id.getBytes(StandardCharsets.US_ASCII)) {
      hash = (hash ^ (b & 0xff)) * 0x01000193;
    }
    byte[] head = (id + ":").getBytes(StandardCharsets.US_ASCII);
    byte[] value = new byte[head.length + Integer.remainderUnsigned(hash, 4000)];
    System.arraycopy(head, 0, value, 0, head.length);
    int x = hash;
    for (int i = head.length; i < value.length; i++) {
      x = x * 1103515245 + 12345;
      value[i] = (byte) (x >>> 24);
    }
    return value;
  }

  private Map<String, Object> common() {
    Map<String, Object> all = new HashMap<>();
    all.put("bootstrap.servers", bootstrap);
    all.put("reconnect.backoff.max.ms", "500");
    all.put("request.timeout.ms", "10000");
    return all;
  }

  private KafkaProducer<byte[], byte[]> producer(Map<String, Object> more) {
    Map<String, Object> all = common();
    all.put("acks", "all");
    all.put("enable.idempotence", "true");
    all.put("max.in.flight.requests.per.connection", "1");
    all.put("delivery.timeout.ms", "120000");
    all.put("max.block.ms", "120000");
    all.put("linger.ms", "2");
    all.putAll(more);
    return new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer());
  }

  private void produce(int records) throws Exception {
    Random random = new Random(seed);
    Semaphore flying = new Semaphore(40);
    try (KafkaProducer<byte[], byte[]> producer = producer(Map.of())) {
      for (int i = 0; i < records; i++) {
        flying.acquire();
        send(
            producer,
            "j" + seed + "-" + i,
            "-",
            plain,
            random.nextInt(PLAIN_PARTITIONS),
            flying::release);
        Thread.sleep(2);
      }
    }
  }

  private void send(
      KafkaProducer<byte[], byte[]> producer,
      String id,
      String of,
      String topic,
      int partition,
      Runnable then) {
    long call = System.nanoTime();
    producer.send(
        new ProducerRecord<>(topic, partition, null, value(id)),
        (RecordMetadata at, Exception e) -> {
          long offset = e == null ? at.offset() : -1;
          say(
              "A %s %d %s %s %d %d %d"
                  .formatted(topic, partition, id, of, call, System.nanoTime(), offset));
          then.run();
        });
  }

  private void transactions(int transactions) throws Exception {
    Random random = new Random(seed + 1);
    String name = "java-" + seed;
    // The default time-out of requests: a broker may handle a request that its client has given up.
    Map<String, Object> options =
        Map.of(
            "transactional.id",
            name,
            "transaction.timeout.ms",
            "60000",
            "request.timeout.ms",
            "30000");
    KafkaProducer<byte[], byte[]> producer = null;
    for (int i = 0; i < transactions; i++) {
      String id = name + "-" + i;
      long call = 0;
      boolean commit = random.nextInt(4) != 0;
      try {
        if (producer == null) {
          producer = producer(options);
          producer.initTransactions();
        }
        producer.beginTransaction();
        int records = 1 + random.nextInt(6);
        for (int j = 0; j < records; j++) {
          send(
              producer,
              id + "." + j,
              id,
              txn,
              j == 0 ? 0 : random.nextInt(TXN_PARTITIONS),
              () -> {});
        }
        producer.flush();
        call = System.nanoTime();
        if (commit) {
          producer.commitTransaction();
        } else {
          producer.abortTransaction();
        }
        say("E %s %b %d true".formatted(id, commit, call));
      } catch (Exception e) {
        if (call != 0) {
          say("E %s %b %d false".formatted(id, commit, call));
        }
        if (producer != null) {
          producer.close(Duration.ZERO);
        }
        producer = null;
      }
      Thread.sleep(5);
    }
    if (producer != null) {
      producer.close();
    }
    try (KafkaProducer<byte[], byte[]> last = producer(options)) {
      last.initTransactions(); // ends what is open
    }
  }

  private void read() throws Exception {
    Random random = new Random(seed + 2);
    Map<String, Object> all = common();
    all.put("isolation.level", "read_committed");
    all.put("auto.offset.reset", "earliest");
    all.put("max.poll.records", "50");
    all.put("fetch.max.wait.ms", "100");
    all.put("enable.auto.commit", "false");
    List<TopicPartition> partitions = new ArrayList<>();
    for (int i = 0; i < PLAIN_PARTITIONS; i++) {
      partitions.add(new TopicPartition(plain, i));
    }
    for (int i = 0; i < TXN_PARTITIONS; i++) {
      partitions.add(new TopicPartition(txn, i));
    }
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(all, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      Map<TopicPartition, Long> high = new HashMap<>();
      // A record that is polled may have been fetched before: the read began when its position was
      // set, or at the poll before.
      long began = System.nanoTime();
      int corrupt = 0;
      for (int polls = 0; !ended; polls++) {
        ConsumerRecords<byte[], byte[]> records;
        try {
          records = consumer.poll(Duration.ofMillis(100));
          corrupt = 0;
        } catch (KafkaException e) {
          // A broker that truncates calls a batch corrupt for a moment: Kafka's own limit.
          if (!String.valueOf(e.getMessage()).contains("corrupt message") || ++corrupt > 100) {
            throw e;
          }
          Thread.sleep(100);
          continue;
        }
        long now = System.nanoTime();
        for (TopicPartition p : records.partitions()) {
          StringBuilder line =
              new StringBuilder("R %s %d %d %d".formatted(p.topic(), p.partition(), began, now));
          for (ConsumerRecord<byte[], byte[]> r : records.records(p)) {
            line.append(' ').append(r.offset()).append('=').append(identify(r.value()));
            high.merge(p, r.offset(), Math::max);
          }
          say(line.toString());
        }
        if (polls % 40 == 39) {
          for (TopicPartition p : partitions) {
            long end = high.getOrDefault(p, 0L);
            consumer.seek(p, random.nextInt(3) == 0 ? end : (long) (random.nextDouble() * end));
          }
        }
        Thread.sleep(20);
      }
    }
  }

  /** The identifier, and what is wrong with the rest. */
  private static String identify(byte[] bytes) {
    int colon = 0;
    while (colon < bytes.length && bytes[colon] != ':') {
      colon++;
    }
    String id = new String(bytes, 0, colon, StandardCharsets.US_ASCII);
    return java.util.Arrays.equals(bytes, value(id))
        ? id
        : "DAMAGED/" + id.replaceAll("[^-.a-z0-9]", "?") + "/" + crc(bytes);
  }

  private static long crc(byte[] bytes) {
    CRC32 crc = new CRC32();
    crc.update(bytes);
    return crc.getValue();
  }
}
