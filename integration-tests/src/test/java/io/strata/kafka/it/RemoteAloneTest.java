package io.strata.kafka.it;

/** Tiered storage on a broker without provider and pools: our jar, and lines in its file. */
class RemoteAloneTest extends RemoteFeatures {

  @Override
  StockBroker.Builder builder(RemoteTier over) {
    return over.alone(work.folder("broker"));
  }
}
