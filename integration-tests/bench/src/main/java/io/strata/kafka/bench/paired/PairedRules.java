package io.strata.kafka.bench.paired;

import java.time.Duration;

/**
 * When a round counts.
 *
 * @param rounds that are to count
 * @param mostLoad the load average above which no round begins
 * @param settle how long a round waits for that
 * @param mostOtherCores processors that other programs may use while a round runs
 */
public record PairedRules(int rounds, double mostLoad, Duration settle, double mostOtherCores) {

  /** Rounds that are begun at most, counted ones and discarded ones. */
  int mostRounds() {
    return 3 * rounds;
  }
}
