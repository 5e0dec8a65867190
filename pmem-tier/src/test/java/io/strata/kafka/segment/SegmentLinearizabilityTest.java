package io.strata.kafka.segment;

import io.strata.kafka.lincheck.Lincheck;
import io.strata.kafka.segment.view.ReaderGateOperations;
import org.junit.jupiter.api.Test;

/**
 * One segment, its gate and its lifetime, used by many threads, are as if they were used by one.
 *
 * <p>The segment is under stress only: the model checker knows neither NIO channels nor words in
 * arrays of bytes.
 */
final class SegmentLinearizabilityTest {

  @Test
  void theSegment() throws Exception {
    new Lincheck(SegmentOperations.class, SegmentOperations.Specification.class)
        .stress(20, 200, 3, 4);
  }

  @Test
  void theReaderGate() throws Exception {
    new Lincheck(ReaderGateOperations.class, ReaderGateOperations.Specification.class)
        .model(5, 300, 3, 3);
  }

  @Test
  void theLifetime() throws Exception {
    Lincheck.of(LifetimeOperations.class).model(5, 300, 3, 3);
  }
}
