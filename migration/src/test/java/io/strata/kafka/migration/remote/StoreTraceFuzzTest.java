package io.strata.kafka.migration.remote;

import io.strata.kafka.fuzz.FuzzContract;
import io.strata.kafka.fuzz.FuzzTarget;
import java.util.List;

/** Custom metadata, whatever is in it. */
final class StoreTraceFuzzTest extends FuzzContract {

  @Override
  protected List<FuzzTarget> targets() {
    return List.of(new StoreTraceTarget());
  }
}
