package io.strata.kafka.migration;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.migration.plan.TieredSegments;

/** The engine's tests stand on it. */
final class FakeTiersTest extends TieredSegmentsContract {

  @Override
  protected Sealed sealed() {
    FakeTiers tiers = new FakeTiers(64 * FakeTiers.MIB);
    long id = tiers.add("t", 0, 0, 0, FakeTiers.MIB, 1, false);
    return new Sealed() {
      @Override
      public TieredSegments tiers() {
        return tiers;
      }

      @Override
      public long id() {
        return id;
      }

      @Override
      public int lower() {
        return 1;
      }

      @Override
      public void requireContent() {
        assertThat(tiers.violations).isEmpty();
      }

      @Override
      public void delete() {
        tiers.delete(id);
      }
    };
  }
}
