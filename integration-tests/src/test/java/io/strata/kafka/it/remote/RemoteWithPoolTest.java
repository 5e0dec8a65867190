package io.strata.kafka.it.remote;

import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Workspace;

/**
 * Tiered storage on a broker whose newest segments are in a pool, and move the log file from there;
 * one level, and what is not set has its default.
 */
class RemoteWithPoolTest extends RemoteFeatures {

  @Override
  TieredBrokers tier(Workspace folders) {
    return TieredBrokers.over(folders.folder("data-store"));
  }

  @Override
  StockBroker.Builder builder(TieredBrokers over) {
    return over.withPools(work.folder("broker"), pool("24MiB"));
  }
}
