package io.strata.kafka.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.api.Move;
import io.strata.kafka.api.SegmentId;
import io.strata.kafka.api.SegmentName;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.migration.CorruptSegmentException;
import java.io.IOException;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.slf4j.event.SubstituteLoggingEvent;

/** What an operator reads of moves. */
class MigrationLogTest {

  private final RecordedLog logged = new RecordedLog();
  private final AtomicLong now = new AtomicLong();
  private final MigrationLog log =
      new MigrationLog(logged.logger(), now::get, List.of("pmem", "ssd"));

  @Test
  void aFailureIsLoggedOnceAMinuteForEachTargetAndCause() {
    log.failed(down(1, "/a", 2), new IOException("No space left on device"), 3, 4_000);
    for (int i = 2; i < 7; i++) {
      log.failed(down(i, "/a", 2), new IOException("No space left on device"), 1, 1_000);
    }
    log.failed(down(8, "/a", 2), new IOException("Input/output error"), 1, 300_000);
    log.failed(down(9, "/b", 2), new IOException("No space left on device"), 1, 1_000);
    log.failed(down(10, "/b", 1), new IOException("No space left on device"), 1, 1_000);

    assertThat(messages())
        .satisfiesExactly(
            line ->
                assertThat(line)
                    .startsWith(
                        "WARN Could not copy orders-3@1 down from pmem to the log files in /a (no"
                            + " space):")
                    .contains("No space left on device; attempt 3, tried again in 4.0 s."),
            line -> assertThat(line).contains("(I/O error)").contains("tried again in 5 min"),
            line -> assertThat(line).contains("to the log files in /b"),
            line -> assertThat(line).contains("to tier ssd"));

    now.addAndGet(TimeUnit.MINUTES.toNanos(1));
    log.failed(down(11, "/a", 2), new IOException("No space left on device"), 1, 1_000);

    assertThat(messages())
        .last()
        .asString()
        .contains("orders-3@11")
        .endsWith("5 more such failures since the last such line.");
  }

  /** It is the pool's device that failed. */
  @Test
  void aFailedEvictionIsNoFailedCopy() {
    log.failed(Move.evict(segment(1, "/a", true)), new IOException("x"), 1, 1_000);
    log.finished(down(3, "/a", 2), 10, 10);

    assertThat(messages())
        .singleElement()
        .asString()
        .startsWith("WARN Could not evict orders-3@1 from tier pmem (I/O error)");
  }

  @Test
  void aFaultOfOursHasItsStackTrace() {
    log.failed(down(1, "/a", 2), new IllegalStateException("x"), 1, 1_000);

    assertThat(logged.events()).last().extracting(SubstituteLoggingEvent::getThrowable).isNotNull();
  }

  @Test
  void theFirstSuccessAfterFailuresIsTold() {
    log.finished(down(1, "/a", 2), 10, 10);
    assertThat(messages()).isEmpty();

    log.failed(down(1, "/a", 2), new IOException("x"), 1, 1_000);
    log.failed(down(2, "/a", 2), new IOException("x"), 1, 1_000);
    log.finished(down(3, "/b", 2), 10, 10);
    assertThat(messages()).hasSize(1);

    log.finished(down(3, "/a", 2), 10, 10);
    log.finished(down(4, "/a", 2), 10, 10);
    assertThat(messages())
        .hasSize(2)
        .last()
        .asString()
        .startsWith("INFO Copies to the log files in /a succeed again, after 2 failed");
  }

  @Test
  void aCorruptSegmentIsLoggedOnce() {
    CorruptSegmentException cause = new CorruptSegmentException("checksum of batch 7");
    log.failed(down(1, "/a", 2), cause, 1, 1_000);
    log.failed(down(1, "/a", 2), cause, 2, 1_000);
    log.failed(down(2, "/a", 2), cause, 1, 1_000);

    assertThat(messages())
        .hasSize(2)
        .allMatch(line -> line.startsWith("ERROR Segment orders-3@"))
        .first()
        .asString()
        .contains("in /a is corrupt, stays in tier pmem")
        .contains("checksum of batch 7");
  }

  @Test
  void whatConcernsTheEngineIsTold() {
    log.roundFailed(new IllegalStateException("x"), 1);
    log.roundFailed(new IllegalStateException("x"), 2);
    log.roundsSucceedAgain(2);
    log.refused(down(1, "/a", 2), "it is active");
    log.refused(down(1, "/a", 2), "it is active");
    log.listenerFailed(log, new IllegalStateException("x"));
    log.reconfigured("a to b");
    log.ignored(List.of("strata.x (unknown)"));
    log.warning("careful");

    assertThat(messages())
        .satisfiesExactly(
            line -> assertThat(line).startsWith("WARN Planning which segments move failed, 1"),
            line -> assertThat(line).startsWith("INFO Planning").contains("after 2 failed"),
            line -> assertThat(line).contains("DESTAGE orders-3@1").contains("it is active"),
            line -> assertThat(line).contains("MigrationLog threw"),
            line -> assertThat(line).startsWith("INFO Migration settings changed"),
            line -> assertThat(line).startsWith("WARN").contains("strata.x (unknown)"),
            line -> assertThat(line).isEqualTo("WARN careful"));
  }

  private static Move down(long id, String directory, int toTier) {
    return Move.destage(segment(id, directory, false), toTier);
  }

  private static SegmentView segment(long id, String directory, boolean clean) {
    return new SegmentView(
        id,
        new SegmentName(
            new SegmentId("orders", 3, id), SegmentName.Replica.CURRENT, SegmentName.Stage.LIVE),
        directory,
        0,
        clean ? OptionalInt.of(2) : OptionalInt.empty(),
        false,
        false,
        10,
        16,
        clean ? 0 : 10,
        clean ? 16 : 0,
        1,
        1,
        1,
        0,
        false);
  }

  private List<String> messages() {
    return logged.messages();
  }
}
