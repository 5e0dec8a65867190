package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.layout.ChunkHeaderLayout;
import io.strata.kafka.pool.Pool;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LentRegionTest {

  private static final int LENGTH = 1 << 20;
  private static final int PAGES = LENGTH / ChunkHeaderLayout.PAGE;

  @TempDir private Path temp;
  private TierFixture fixture;

  @BeforeEach
  void open() throws IOException {
    fixture = new TierFixture(temp).pool("strata.pool", 16L << 20);
    fixture.open();
  }

  @AfterEach
  void close() throws IOException {
    fixture.close();
  }

  private Pool pool() {
    return fixture.tier().pools().get(0);
  }

  private LentRegion borrow() throws IOException {
    return new LentRegion(pool().lend(LENGTH).orElseThrow(), 0);
  }

  @Test
  void anIdleRegionIsGivenBackAtOnce() throws IOException {
    long free = pool().usage().freeBytes();
    LentRegion region = borrow();
    assertThat(pool().usage().freeBytes()).isEqualTo(free - LENGTH);
    assertThat(region.enter()).isTrue();
    region.exit();
    assertThat(region.gone()).isFalse();
    assertThat(region.giveBack()).isTrue();
    assertThat(region.gone()).isTrue();
    assertThat(region.enter()).isFalse();
    assertThat(pool().usage().freeBytes()).isEqualTo(free);
    assertThat(region.giveBack()).isFalse();
  }

  /** Otherwise the store would land in what is a segment's by then. */
  @Test
  void aRegionThatIsStoredIntoIsGivenBackWhenTheLastStoreIsOver() throws IOException {
    long free = pool().usage().freeBytes();
    LentRegion region = borrow();
    assertThat(region.enter()).isTrue();
    assertThat(region.enter()).isTrue();
    assertThat(region.giveBack()).isFalse();
    assertThat(region.gone()).as("told at once").isTrue();
    assertThat(region.enter()).as("no store begins any more").isFalse();
    assertThat(pool().usage().freeBytes()).isEqualTo(free - LENGTH);
    region.exit();
    assertThat(pool().usage().freeBytes()).isEqualTo(free - LENGTH);
    region.exit();
    assertThat(pool().usage().freeBytes()).isEqualTo(free);
    assertThat(pool().regions()).isEmpty();
  }

  @Test
  void pagesAreTakenOnce() throws IOException {
    LentRegion region = borrow();
    assertThat(region.take(100)).hasValue(0);
    assertThat(region.take(PAGES - 150)).hasValue(100);
    assertThat(region.take(51)).isEmpty();
    assertThat(region.take(50)).hasValue(PAGES - 50);
    assertThat(region.take(1)).isEmpty();
    assertThat(region.takenPages()).isEqualTo(PAGES);
    region.release(10, 20);
    assertThat(region.take(21)).isEmpty();
    assertThat(region.take(5, 10)).isFalse();
    assertThat(region.take(12, 4)).isTrue();
    assertThat(region.take(10)).hasValue(16);
    assertThat(region.take(PAGES - 1, 2)).as("beyond the end").isFalse();
    region.clear();
    assertThat(region.take(PAGES)).hasValue(0);
  }
}
