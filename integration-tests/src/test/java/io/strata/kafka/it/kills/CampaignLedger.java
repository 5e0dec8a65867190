package io.strata.kafka.it.kills;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * What a campaign has sent to one topic, and what became of it: per key the numbers of its records,
 * and per transaction how it ended. A record carries its key, its number among the key's records,
 * its transaction, and a checksum of all of it.
 *
 * <p>Thread safety: by the ledger's monitor; senders, their callbacks and readers share it.
 */
public final class CampaignLedger {

  static final int KEYS = 12;

  /** No transaction. */
  static final long NONE = -1;

  private static final int HEADER = Integer.BYTES + 2 * Integer.BYTES + Long.BYTES + Integer.BYTES;

  private final String topic;
  private final Kind kind;
  private final int partitions;
  private final List<Key> keys = new ArrayList<>();
  private final List<Transaction> transactions = new ArrayList<>();
  private long acknowledged;
  private String trouble = "";

  public CampaignLedger(String topic, Kind kind, int partitions) {
    this.topic = topic;
    this.kind = kind;
    this.partitions = partitions;
    for (int i = 0; i < KEYS; i++) {
      keys.add(new Key());
    }
  }

  /** How a topic is written, and what may be missing from it. */
  public enum Kind {
    /** acks=all, no retries: what fails may be there, once. */
    PLAIN,
    /** Retried until it succeeds: everything is there, once, in order. */
    IDEMPOTENT,
    /** The same; of each key only the last is there for sure. */
    COMPACTED,
    /** The same; the oldest may be gone. */
    RETAINED,
    /** Committed transactions are there whole, aborted ones not at all. */
    TRANSACTIONAL;

    /** Whether each offset has a record. */
    boolean isDense() {
      return this == PLAIN || this == IDEMPOTENT || this == RETAINED;
    }
  }

  /** How a transaction ended. */
  enum Outcome {
    ONGOING,
    COMMITTED,
    ABORTED,
    /** The answer to a commit did not come: all of it is there or nothing. */
    UNKNOWN,
    /** Kafka's coordinator has told the commit and then left out the markers, as its log says. */
    FORGOTTEN
  }

  private static final class Key {
    private final BitSet acknowledged = new BitSet();
    private final List<Long> offsets = new ArrayList<>();
  }

  private static final class Transaction {
    private final List<Item> items = new ArrayList<>();
    private final String id;
    private Outcome outcome = Outcome.ONGOING;

    private Transaction(String id) {
      this.id = id;
    }
  }

  /** One record; {@code size} is how many its transaction has. */
  public record Item(int key, int number, long transaction, int size) {}

  /** A record to send. */
  record Outgoing(Item item, ProducerRecord<byte[], byte[]> send) {
    int bytes() {
      return send.value().length;
    }
  }

  public String topic() {
    return topic;
  }

  public Kind kind() {
    return kind;
  }

  public int partitions() {
    return partitions;
  }

  /** Where a key's records go. */
  int partitionOf(int key) {
    return key / 2 % partitions;
  }

  // ---------------------------------------------------------------------------------------------
  // sending
  // ---------------------------------------------------------------------------------------------

  /** Begins a transaction of the producer that has the transactional id. */
  public synchronized long begin(String id) {
    transactions.add(new Transaction(id));
    return transactions.size() - 1L;
  }

  /** The key's next record. */
  synchronized Outgoing next(int key, long transaction, int size, int bytes, Random random) {
    Key log = keys.get(key);
    Item item = new Item(key, log.offsets.size(), transaction, size);
    log.offsets.add(-1L);
    if (transaction != NONE) {
      transaction(transaction).items.add(item);
    }
    byte[] payload = new byte[Math.max(0, bytes - HEADER)];
    random.nextBytes(payload);
    ByteBuffer value =
        ByteBuffer.allocate(HEADER + payload.length)
            .putInt(0)
            .putInt(key)
            .putInt(item.number())
            .putLong(transaction)
            .putInt(size)
            .put(payload);
    value.putInt(0, checksum(value.array()));
    return new Outgoing(
        item, new ProducerRecord<>(topic, partitionOf(key), keyBytes(key), value.array()));
  }

  /** The broker has it, at the offset, or at one that it did not tell (-1). */
  synchronized void acknowledge(Item item, long offset) {
    Key log = keys.get(item.key());
    log.acknowledged.set(item.number());
    log.offsets.set(item.number(), offset);
    acknowledged++;
  }

  /** The transaction has ended. */
  public synchronized void end(long transaction, Outcome outcome) {
    Transaction ended = transaction(transaction);
    ended.outcome = outcome;
    if (outcome == Outcome.COMMITTED) {
      ended.items.forEach(item -> keys.get(item.key()).acknowledged.set(item.number()));
      acknowledged += ended.items.size();
    }
  }

  /**
   * Kafka's coordinator says that it has left out markers of the id so often: of as many committed
   * transactions, and no more, records may be missing.
   *
   * @param missing what has not been found of each key
   * @return whether one more is forgiven
   */
  synchronized boolean forgive(String id, long times, List<BitSet> missing) {
    long already =
        transactions.stream()
            .filter(t -> t.outcome == Outcome.FORGOTTEN && t.id.equals(id))
            .count();
    if (already >= times) {
      return false;
    }
    for (Transaction one : transactions) {
      if (one.outcome == Outcome.COMMITTED
          && one.id.equals(id)
          && one.items.stream().anyMatch(item -> missing.get(item.key()).get(item.number()))) {
        one.outcome = Outcome.FORGOTTEN;
        one.items.forEach(item -> keys.get(item.key()).acknowledged.clear(item.number()));
        return true;
      }
    }
    return false;
  }

  /** A send failed that must not. */
  synchronized void trouble(String what) {
    if (trouble.isEmpty()) {
      trouble = what;
    }
  }

  // ---------------------------------------------------------------------------------------------
  // what is known
  // ---------------------------------------------------------------------------------------------

  /** What has been acknowledged until now, per key: it must be found. */
  synchronized List<BitSet> required() {
    if (!trouble.isEmpty()) {
      throw new AssertionError(topic + ": " + trouble);
    }
    List<BitSet> all = new ArrayList<>();
    keys.forEach(key -> all.add((BitSet) key.acknowledged.clone()));
    return all;
  }

  synchronized long acknowledged() {
    return acknowledged;
  }

  /** How many transactions have ended so. */
  synchronized long transactions(Outcome outcome) {
    return transactions.stream().filter(t -> t.outcome == outcome).count();
  }

  synchronized Outcome outcome(long transaction) {
    return transaction(transaction).outcome;
  }

  /** The offset that was acknowledged; -1 if none was. */
  synchronized long offset(int key, int number) {
    return keys.get(key).offsets.get(number);
  }

  /** What the record is; an error if it is not as it was sent. */
  public synchronized Item check(ConsumerRecord<byte[], byte[]> record) {
    ByteBuffer value = ByteBuffer.wrap(record.value());
    if (value.capacity() < HEADER || value.getInt() != checksum(record.value())) {
      throw new AssertionError(at(record) + " is not what was sent: its checksum is wrong");
    }
    Item item = new Item(value.getInt(), value.getInt(), value.getLong(), value.getInt());
    if (!ByteBuffer.wrap(keyBytes(item.key())).equals(ByteBuffer.wrap(record.key()))
        || record.partition() != partitionOf(item.key())) {
      throw new AssertionError(at(record) + " has the key or partition of another one: " + item);
    }
    if (item.number() >= keys.get(item.key()).offsets.size()) {
      throw new AssertionError(at(record) + " was never sent: " + item);
    }
    long told = offset(item.key(), item.number());
    if (told >= 0 && told != record.offset()) {
      throw new AssertionError(at(record) + " was acknowledged at offset " + told + ": " + item);
    }
    return item;
  }

  static String at(ConsumerRecord<byte[], byte[]> record) {
    return record.topic() + "-" + record.partition() + ": record at offset " + record.offset();
  }

  private Transaction transaction(long number) {
    return transactions.get(Math.toIntExact(number));
  }

  private static byte[] keyBytes(int key) {
    return ByteBuffer.allocate(Integer.BYTES).putInt(key).array();
  }

  private static int checksum(byte[] value) {
    CRC32C crc = new CRC32C();
    crc.update(value, Integer.BYTES, value.length - Integer.BYTES);
    return (int) crc.getValue();
  }
}
