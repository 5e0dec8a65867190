package io.strata.kafka.cli;

import io.strata.kafka.fuzz.FuzzContract;
import io.strata.kafka.fuzz.FuzzTarget;
import java.util.List;

/** Sizes on the command line, whatever they say. */
final class CliFuzzTest extends FuzzContract {

  @Override
  protected List<FuzzTarget> targets() {
    return List.of(new SizeTarget());
  }
}
