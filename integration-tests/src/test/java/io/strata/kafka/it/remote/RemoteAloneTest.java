package io.strata.kafka.it.remote;

import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Workspace;
import org.junit.jupiter.api.Tag;

/**
 * Tiered storage on a broker without provider and pools: our jar, and lines in its file. Two
 * levels, the first of which is small.
 */
@Tag("long")
class RemoteAloneTest extends RemoteFeatures {

  @Override
  TieredBrokers tier(Workspace folders) {
    return TieredBrokers.over(folders.folder("data-upper"), folders.folder("data-lower"));
  }

  @Override
  StockBroker.Builder builder(TieredBrokers over) {
    return over.alone(work.folder("broker"))
        .set("rsm.config.level-0.capacity", "16MiB")
        .set("rsm.config.migration.threshold", "0.2");
  }
}
