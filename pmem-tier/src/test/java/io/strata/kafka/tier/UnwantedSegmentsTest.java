package io.strata.kafka.tier;

import static io.strata.kafka.tier.TierFixture.assertDone;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.api.SegmentName;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What would not be placed in a pool today is shown to the engine as such, and can be moved. */
final class UnwantedSegmentsTest {

  private static final int LOG_DIRECTORY = 1;

  @TempDir private Path root;
  private TierFixture fixture;

  @BeforeEach
  void open() throws IOException {
    fixture = new TierFixture(root).pool("a.pool", 16 << 20);
    fixture.open();
    for (String partition : new String[] {"orders-0", "payments-0", "gone-0"}) {
      for (long offset = 0; offset < 3000; offset += 1000) {
        fixture.append(fixture.segment(partition, offset), Batches.of(300_000, offset));
      }
    }
  }

  @AfterEach
  void close() throws IOException {
    fixture.close();
  }

  private TieredSegments.State state() {
    return fixture.tier().tieredSegments().state();
  }

  private void assertUnwanted(String topic, int segments, int active) {
    assertThat(state().segments())
        .filteredOn(view -> view.name().id().topic().equals(topic))
        .hasSize(segments)
        .allMatch(view -> state().unwanted().contains(view.id()));
    assertThat(state().segments())
        .filteredOn(view -> view.name().id().topic().equals(topic))
        .filteredOn(SegmentView::active)
        .hasSize(active);
    assertThat(state().unwanted()).hasSize(segments);
  }

  @Test
  void segmentsOfATopicThatWasExcludedLater() throws Exception {
    Map<String, String> keys = new HashMap<>(fixture.extra);
    keys.put("strata.topics.exclude", "orders");
    fixture.extra = keys;
    fixture.reopen();
    assertUnwanted("orders", 3, 1);
    assertThat(state().segments()).hasSize(9);
    Path old = fixture.segment("orders-0", 0);
    assertDone(fixture.destage(old, LOG_DIRECTORY));
    assertDone(fixture.evict(old));
    assertUnwanted("orders", 2, 1);
    assertThat(Files.readAllBytes(old)).isEqualTo(Batches.of(300_000, 0));
  }

  /** What LogManager makes of a replica that the cluster does not know any more. */
  @Test
  void segmentsOfAStrayPartition() throws Exception {
    Path stray = fixture.logs().resolve("gone-0.0123456789abcdef0123456789abcdef-stray");
    assertThat(
            fixture.tier().move(fixture.partition("gone-0"), stray, StandardCopyOption.ATOMIC_MOVE))
        .isTrue();
    assertUnwanted("gone", 3, 0);
    fixture.reopen();
    assertUnwanted("gone", 3, 0);
    for (SegmentView view : state().segments()) {
      if (view.name().replica() == SegmentName.Replica.STRAY) {
        assertDone(
            fixture
                .tier()
                .tieredSegments()
                .destage(view.id(), LOG_DIRECTORY, MoveControl.UNLIMITED));
        assertDone(fixture.tier().tieredSegments().evict(view.id()));
      }
    }
    assertUnwanted("gone", 0, 0);
    for (long offset = 0; offset < 3000; offset += 1000) {
      assertThat(Files.readAllBytes(stray.resolve(String.format("%020d.log", offset))))
          .isEqualTo(Batches.of(300_000, offset));
    }
  }
}
