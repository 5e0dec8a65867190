package io.strata.kafka.config;

import io.strata.kafka.config.key.MetaPropertiesTarget;
import io.strata.kafka.fuzz.FuzzContract;
import io.strata.kafka.fuzz.FuzzTarget;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/** Configuration files, values and command lines, whatever is in them. */
final class ConfigFuzzTest extends FuzzContract {

  @Override
  protected List<FuzzTarget> targets() {
    try {
      return List.of(
          new PropertiesTarget(),
          new CommandLineTarget(),
          new MetaPropertiesTarget(),
          new ValueTarget());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
