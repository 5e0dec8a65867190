package io.strata.kafka.it;

/** Tiered storage on a broker whose newest segments are in a pool, and move home from there. */
class RemoteWithPoolTest extends RemoteFeatures {

  @Override
  StockBroker.Builder builder(RemoteTier over) {
    return over.withPools(work.folder("broker"), pool("24m"));
  }
}
