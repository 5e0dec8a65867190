package io.strata.kafka.it.kills;

import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.kills.CampaignLedger.Item;
import io.strata.kafka.it.kills.CampaignLedger.Kind;
import io.strata.kafka.it.kills.CampaignLedger.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * Reads a campaign's topic from its beginning, a piece at a time, and checks each record against
 * the ledger: that it is what was sent, in order, not twice; and, when it has caught up, that
 * nothing acknowledged is missing. Not thread-safe.
 */
public final class CampaignReader implements AutoCloseable {

  private static final Duration POLL = Duration.ofMillis(200);
  private static final Duration DOUBT = Duration.ofSeconds(15);
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private static final long NEW_LEADER_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final CampaignLedger ledger;
  private final Consumer<byte[], byte[]> consumer;
  private final Supplier<? extends Map<String, Long>> leftOut;
  private final List<TopicPartition> partitions;
  private final List<BitSet> seen = new ArrayList<>();
  private final Map<Integer, Long> next = new TreeMap<>();

  /** Records of transactions that have been seen, while that is not yet all there is to know. */
  private final Map<Long, Count> open = new TreeMap<>();

  private long records;

  /**
   * A reader.
   *
   * @param leftOut how often, for each transactional id, the brokers' logs say that Kafka's
   *     coordinator has left out the markers of a transaction
   */
  CampaignReader(
      CampaignLedger ledger, String bootstrap, Supplier<? extends Map<String, Long>> leftOut) {
    this.ledger = ledger;
    this.leftOut = leftOut;
    // What is kept for good cannot be out of range; of what is not, the oldest may have gone.
    String reset = ledger.kind() == Kind.RETAINED ? "earliest" : "none";
    consumer =
        RecordLedger.consumer(
            bootstrap,
            Map.of(
                "isolation.level", "read_committed",
                "auto.offset.reset", reset,
                "reconnect.backoff.max.ms", "200",
                "request.timeout.ms", "5000",
                "default.api.timeout.ms", "60000",
                "fetch.max.wait.ms", "100"));
    partitions =
        IntStream.range(0, ledger.partitions())
            .mapToObj(p -> new TopicPartition(ledger.topic(), p))
            .toList();
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
    IntStream.range(0, CampaignLedger.KEYS).forEach(key -> seen.add(new BitSet()));
  }

  private static final class Count {
    private final int size;
    private int seen;

    private Count(int size) {
      this.size = size;
    }
  }

  long records() {
    return records;
  }

  /**
   * No send has failed that must not, and of a topic of which the newest are kept nothing is
   * missing that has to be there. No producer sends any more.
   */
  public static void verify(CampaignLedger ledger, String bootstrap) {
    List<BitSet> unused = ledger.required();
    if (ledger.kind() == Kind.RETAINED || ledger.kind() == Kind.COMPACTED) {
      try (CampaignReader whole = new CampaignReader(ledger, bootstrap, Map::of)) {
        whole.catchUp();
      }
    }
  }

  /** Reads on until everything is found that is acknowledged now. */
  void catchUp() {
    List<BitSet> required = ledger.required();
    long doubt = System.nanoTime() + DOUBT.toNanos();
    long deadline = System.nanoTime() + LIMIT.toNanos();
    Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
    while (!atEnd(ends) || !missing(required).isEmpty()) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError(
            ledger.topic()
                + ": acknowledged, and not found: "
                + missing(required)
                + "; read to "
                + next
                + ", ends "
                + ends);
      }
      if (System.nanoTime() > doubt && ledger.kind() == Kind.TRANSACTIONAL && atEnd(ends)) {
        required = forgive(required);
        doubt += DOUBT.toNanos();
      }
      consumer.poll(POLL).forEach(this::accept);
    }
    checkTransactions();
  }

  /**
   * After the last of {@link #catchUp}, when no producer sends any more: no transaction is there in
   * part.
   */
  void assertNothingInPart() {
    open.forEach(
        (transaction, count) -> {
          if (count.seen != count.size && ledger.outcome(transaction) != Outcome.FORGOTTEN) {
            throw new AssertionError(
                ledger.topic() + ": transaction " + transaction + describe(count));
          }
        });
  }

  @Override
  public void close() {
    consumer.close();
  }

  // ---------------------------------------------------------------------------------------------

  private boolean atEnd(Map<TopicPartition, Long> ends) {
    return partitions.stream().allMatch(p -> consumer.position(p) >= ends.getOrDefault(p, 0L));
  }

  private void accept(ConsumerRecord<byte[], byte[]> record) {
    Item item = ledger.check(record);
    records++;
    checkOffset(record);
    BitSet numbers = seen.get(item.key());
    if (numbers.get(item.number())) {
      throw new AssertionError(CampaignLedger.at(record) + " is there twice: " + item);
    }
    // What failed of a plain producer may arrive late, when a connection is taken up again.
    int last = numbers.length() - 1;
    if (ledger.kind() != Kind.PLAIN && item.number() < last) {
      throw new AssertionError(
          CampaignLedger.at(record) + " is out of order: " + item + " after number " + last);
    }
    if (ledger.kind() == Kind.IDEMPOTENT && item.number() != last + 1) {
      throw new AssertionError(
          CampaignLedger.at(record) + ": " + item + " after number " + last + ": some are lost");
    }
    numbers.set(item.number());
    if (item.transaction() != CampaignLedger.NONE) {
      open.computeIfAbsent(item.transaction(), t -> new Count(item.size())).seen++;
    }
  }

  private void checkOffset(ConsumerRecord<byte[], byte[]> record) {
    long expected = next.getOrDefault(record.partition(), 0L);
    next.put(record.partition(), record.offset() + 1);
    if (record.offset() == expected || !ledger.kind().isDense()) {
      return;
    }
    TopicPartition partition = new TopicPartition(record.topic(), record.partition());
    long begin = 0;
    if (ledger.kind() == Kind.RETAINED && record.offset() > expected) {
      // A new leader may have deleted less than the one before, for a moment.
      long end = System.nanoTime() + NEW_LEADER_NANOS;
      do {
        begin = consumer.beginningOffsets(List.of(partition)).getOrDefault(partition, 0L);
        if (begin >= record.offset()) {
          return;
        }
      } while (System.nanoTime() < end);
    }
    throw new AssertionError(
        CampaignLedger.at(record)
            + (": offsets before it are missing, from " + expected)
            + (", and the log begins at " + begin));
  }

  private List<BitSet> forgive(List<BitSet> required) {
    List<BitSet> lost = new ArrayList<>();
    for (int key = 0; key < required.size(); key++) {
      BitSet one = (BitSet) required.get(key).clone();
      one.andNot(seen.get(key));
      lost.add(one);
    }
    boolean forgiven = false;
    for (Map.Entry<String, Long> entry : leftOut.get().entrySet()) {
      forgiven |= ledger.forgive(entry.getKey(), entry.getValue(), lost);
    }
    if (!forgiven) {
      return required;
    }
    List<BitSet> now = ledger.required();
    for (int key = 0; key < now.size(); key++) {
      now.get(key).and(required.get(key));
    }
    return now;
  }

  /** What is required and has not been seen; of each key the first. */
  private List<String> missing(List<BitSet> required) {
    List<String> missing = new ArrayList<>();
    for (int key = 0; key < required.size(); key++) {
      BitSet lost = (BitSet) required.get(key).clone();
      lost.andNot(seen.get(key));
      if (ledger.kind() == Kind.COMPACTED) {
        lost.clear(0, seen.get(key).length());
      }
      if (ledger.kind() == Kind.RETAINED) {
        forgiveDeleted(key, lost);
      }
      if (!lost.isEmpty()) {
        int first = lost.nextSetBit(0);
        missing.add(
            lost.cardinality()
                + (" of key " + key + " from number " + first)
                + (" at offset " + ledger.offset(key, first)));
      }
    }
    return missing;
  }

  private void forgiveDeleted(int key, BitSet lost) {
    if (lost.isEmpty()) {
      return;
    }
    // Read past it: checkOffset has seen to it that it was deleted.
    long read = next.getOrDefault(ledger.partitionOf(key), 0L);
    for (int number = lost.nextSetBit(0); number >= 0; number = lost.nextSetBit(number + 1)) {
      if (ledger.offset(key, number) < read) {
        lost.clear(number);
      }
    }
  }

  private void checkTransactions() {
    Iterator<Map.Entry<Long, Count>> all = open.entrySet().iterator();
    while (all.hasNext()) {
      Map.Entry<Long, Count> one = all.next();
      Outcome outcome = ledger.outcome(one.getKey());
      Count count = one.getValue();
      if (outcome == Outcome.ABORTED || count.seen > count.size) {
        throw new AssertionError(
            ledger.topic() + ": transaction " + one.getKey() + ", " + outcome + describe(count));
      }
      if (outcome == Outcome.COMMITTED && count.seen == count.size) {
        all.remove();
      }
    }
  }

  private static String describe(Count count) {
    return ": " + count.seen + " of its " + count.size + " records are there";
  }
}
