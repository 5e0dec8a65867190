package io.strata.kafka.it.hot;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Two brokers, each with a pool. The leader takes records that its dead follower never gets; the
 * follower comes back as leader; the old leader comes back and truncates: segments that it has
 * moved to the log file meanwhile, some of them evicted, and moves the rest on.
 */
@Tag("long")
class LeaderChangeTest {

  private static final String TOPIC = "truncated";
  private static final TopicPartition PARTITION = new TopicPartition(TOPIC, 0);
  private static final int COMMON = 6_000;
  private static final int ALONE = 24_000;
  private static final int AFTER = 3_000;
  private static final int SIZE = 1_000;

  /** Needs no controller. */
  private static final Map<String, String> LEADER_ALONE =
      Map.of("acks", "1", "enable.idempotence", "false");

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void theOldLeaderTruncatesSegmentsThatHaveMoved() throws Exception {
    StockBroker follower = WORK.start(broker("follower"));
    StockBroker leader = WORK.start(broker("leader").joining(follower, 2));
    try (Admin admin = follower.admin()) {
      // A follower that was killed may not be in sync when it is back.
      Topics.create(admin, TOPIC, Map.of("unclean.leader.election.enable", "true"), 2, 1);
    }
    new RecordLedger(TOPIC, 1, 1).produce(leader.bootstrap(), COMMON, SIZE);

    follower.kill();
    // Longer: they have the same numbers as those that come in their place.
    new RecordLedger(TOPIC, 1, 2).produce(leader.bootstrap(), ALONE, SIZE + 7, LEADER_ALONE);
    Tiers.awaitClean(leader, "hot");
    Path partition = LogFiles.partition(leader, TOPIC, 0);
    int segments = LogFiles.segments(partition).size();
    int hot = LogFiles.hotSegments(partition).size();
    assertThat(hot).as("of %d segments, those in the pool", segments).isBetween(2, segments - 2);
    leader.kill();

    follower.start();
    try (Admin admin = follower.admin()) {
      Topics.awaitState(admin, TOPIC, 1, Set.of(1));
      new RecordLedger(TOPIC, 1, 3).produce(follower.bootstrap(), AFTER, SIZE);
      leader.start();
      Topics.awaitState(admin, TOPIC, 1, Set.of(1, 2));
      assertThat(LogFiles.segments(partition))
          .as("segments after truncation")
          .hasSizeLessThan(segments / 2);
      assertRead(follower);
      // And from the truncated log.
      Topics.await(admin.electLeaders(ElectionType.PREFERRED, Set.of(PARTITION)).all());
      Topics.awaitState(admin, TOPIC, 2, Set.of(1, 2));
    }
    assertRead(leader);
    for (StockBroker broker : List.of(leader, follower)) {
      Tiers.awaitQuiet(broker);
      Tiers.assertAccounting(broker);
    }
    leader.stop();
    follower.stop();
    Tiers.audit(leader);
    Tiers.audit(follower);
  }

  private static StockBroker.Builder broker(String name) {
    Path pool = WORK.newPool(name, "16MiB", 128);
    return Tiers.broker(WORK.folder(name), pool)
        .set("auto.leader.rebalance.enable", "false")
        .set("strata.migration.threshold", "0")
        .set("strata.migration.threads", "4");
  }

  private static void assertRead(StockBroker broker) {
    List<Integer> found = new ArrayList<>();
    for (ConsumerRecord<byte[], byte[]> consumed :
        RecordLedger.readAll(broker.bootstrap(), TOPIC, 1, Map.of())) {
      found.add(RecordLedger.check(consumed));
      assertThat(consumed.value()).as("value at %d", consumed.offset()).hasSize(SIZE);
    }
    List<Integer> expected = new ArrayList<>();
    IntStream.range(0, COMMON).forEach(expected::add);
    IntStream.range(0, AFTER).forEach(expected::add);
    assertThat(found.equals(expected))
        .as("%d records, expected %d, all as sent", found.size(), expected.size())
        .isTrue();
  }
}
