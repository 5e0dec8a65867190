package io.strata.kafka.tier.start;

import java.util.List;

/**
 * The log files that are missing of segments with bytes in the pools, as a start would find them.
 * Immutable.
 *
 * @param first missing for the first time: the next start keeps their bytes in the pools
 * @param again missing for longer: the next start frees their bytes
 */
public record MissingLogFiles(List<String> first, List<String> again) {
  /** Copies the lists. */
  public MissingLogFiles {
    first = List.copyOf(first);
    again = List.copyOf(again);
  }
}
