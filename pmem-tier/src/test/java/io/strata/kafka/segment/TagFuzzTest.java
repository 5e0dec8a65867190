package io.strata.kafka.segment;

import io.strata.kafka.fuzz.FuzzContract;
import io.strata.kafka.fuzz.FuzzTarget;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/** Extended attributes of log files, whatever is in them. */
final class TagFuzzTest extends FuzzContract {

  @Override
  protected List<FuzzTarget> targets() {
    try {
      return List.of(new TagTarget());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
