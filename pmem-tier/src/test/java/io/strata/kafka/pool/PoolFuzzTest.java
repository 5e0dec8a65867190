package io.strata.kafka.pool;

import io.strata.kafka.fuzz.FuzzContract;
import io.strata.kafka.fuzz.FuzzTarget;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/** Pool images, whatever is in them. */
final class PoolFuzzTest extends FuzzContract {

  @Override
  protected List<FuzzTarget> targets() {
    try {
      return List.of(new PoolImageTarget());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
