package io.strata.kafka.tier;

import io.strata.kafka.fuzz.FuzzContract;
import io.strata.kafka.fuzz.FuzzTarget;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/** What log directories say of themselves, and names of segments. */
final class TierFuzzTest extends FuzzContract {

  @Override
  protected List<FuzzTarget> targets() {
    try {
      return List.of(new DirectoryAttributesTarget(), new SegmentNameTarget());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
