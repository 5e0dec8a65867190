package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.segment.view.SegmentTag;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which topics may be in a pool, changed on a live broker. */
class LivePlacementTest {

  private static final byte[] RECORDS = "records".getBytes(StandardCharsets.UTF_8);

  @TempDir private Path root;

  @Test
  void anExcludedTopicGetsNoNewHotSegmentsAndItsOldOnesAreToLeave() throws Exception {
    try (TierFixture fixture = new TierFixture(root).pool("hot.pool", 16 << 20)) {
      HotTier tier = fixture.open();
      Path before = fixture.segment("bulk-0", 0);
      fixture.append(before, RECORDS);
      assertThat(SegmentTag.read(before)).isPresent();
      assertThat(tier.tieredSegments().state().unwanted()).isEmpty();

      tier.reconfigure(excluding(fixture, "bulk"));

      Path after = fixture.segment("bulk-0", 100);
      assertThat(tier.open(after, TierFixture.KAFKA)).as("taken by a pool").isEmpty();
      Path other = fixture.segment("orders-0", 0);
      fixture.append(other, RECORDS);
      assertThat(SegmentTag.read(other)).isPresent();
      assertThat(tier.tieredSegments().state().unwanted())
          .contains(fixture.view(before).id())
          .doesNotContain(fixture.view(other).id());

      tier.reconfigure(excluding(fixture, "none"));
      Path again = fixture.segment("bulk-0", 200);
      fixture.append(again, RECORDS);
      assertThat(SegmentTag.read(again)).isPresent();
      assertThat(fixture.read(before)).isEqualTo(RECORDS);
    }
  }

  private static StrataConfig excluding(TierFixture fixture, String topics) {
    StrataConfig config = fixture.spec().config();
    return new StrataConfig(
        config.tiers(),
        config.poolCreate(),
        config.topicsInclude(),
        List.of(topics),
        config.requireDax(),
        config.durability(),
        config.spillForce(),
        config.migration());
  }
}
