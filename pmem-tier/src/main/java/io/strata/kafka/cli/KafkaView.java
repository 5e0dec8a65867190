package io.strata.kafka.cli;

import static java.util.Objects.requireNonNull;

import java.util.Map;
import java.util.Optional;

/**
 * The remote segments of a cluster as Kafka knows them: the content of its topic {@code
 * __remote_log_metadata}.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param clusterId the cluster
 * @param states the last state of each segment, by its id
 * @param gap why not all of the topic could be read; empty if all was
 */
record KafkaView(String clusterId, Map<String, State> states, Optional<String> gap) {

  /** How far Kafka has come with a segment. */
  enum State {
    /** Its copy began, and has not ended. */
    COPYING,
    /** It is there. */
    COPIED,
    /** Its deletion began, and has not ended. */
    DELETING,
    /** It was deleted. */
    DELETED
  }

  /** Copies the map. */
  KafkaView {
    requireNonNull(clusterId);
    states = Map.copyOf(states);
    requireNonNull(gap);
  }
}
