package io.strata.kafka.it.hot;

import io.strata.kafka.it.harness.StockBroker;
import org.junit.jupiter.api.Tag;

/** The scenarios on a broker without Strata: what fails here is no fault of the tier. */
@Tag("long")
class StockFeaturesTest extends BrokerFeatures {

  @Override
  void configure(StockBroker.Builder builder) {
    // as it comes
  }

  @Override
  void assertPlacement(StockBroker broker, String topic) {
    // everything is in the log file
  }
}
