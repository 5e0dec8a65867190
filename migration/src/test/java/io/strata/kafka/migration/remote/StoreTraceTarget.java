package io.strata.kafka.migration.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.fuzz.FuzzTarget;
import java.util.List;
import java.util.Optional;

/** The custom metadata that Kafka keeps with a remote segment. */
final class StoreTraceTarget implements FuzzTarget {

  @Override
  public String name() {
    return "custom-metadata";
  }

  @Override
  public void run(byte[] input) {
    Optional<StoreTrace> read = StoreTrace.read(input);
    read.ifPresent(trace -> assertThat(trace.bytes()).isEqualTo(input));
  }

  @Override
  public List<byte[]> seeds() {
    return List.of(
        new StoreTrace("storestorestorestoreAA", "directorydirectorydirA").bytes(), new byte[0]);
  }
}
