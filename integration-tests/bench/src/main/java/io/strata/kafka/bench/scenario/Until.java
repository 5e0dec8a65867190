package io.strata.kafka.bench.scenario;

import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * When a group has done its work: at whichever limit comes first.
 *
 * @param records of the whole group
 * @param bytes of the values, of the whole group
 * @param seconds after the group's start
 * @param logSize bytes of the leaders of its topics in log directories
 */
public record Until(
    OptionalLong records, OptionalLong bytes, OptionalDouble seconds, OptionalLong logSize) {

  static Until of(Place place, double scale) {
    return new Until(
        place.limit("records", scale, false),
        place.limit("bytes", scale, true),
        place.timeLimit("time", scale),
        place.node().has("log-size") ? place.limit("log-size", scale, true) : OptionalLong.empty());
  }

  /** Returns the time by nanoTime that ends a group which has begun at another one. */
  public long endNanos(long startNanos) {
    return seconds.isPresent()
        ? startNanos + Math.round(seconds.getAsDouble() * TimeUnit.SECONDS.toNanos(1))
        : Long.MAX_VALUE;
  }

  /** Returns whether nothing ends the group. */
  public boolean isNone() {
    return records.isEmpty() && bytes.isEmpty() && seconds.isEmpty() && logSize.isEmpty();
  }
}
