package io.strata.kafka.bench.load;

import java.util.OptionalLong;

/**
 * A client's place among those of its group on all hosts.
 *
 * @param client its number, from 0
 * @param clients how many there are
 */
record Share(int client, int clients) {

  /** Its part of a number: the parts add up to it. */
  long of(long total) {
    return total / clients + (client < total % clients ? 1 : 0);
  }

  /** Its part of a limit of records, or of bytes in records of this size; the smaller. */
  long records(OptionalLong records, OptionalLong bytes, long recordSize) {
    long limit = Long.MAX_VALUE;
    if (records.isPresent()) {
      limit = of(records.getAsLong());
    }
    if (bytes.isPresent()) {
      limit = Math.min(limit, of((bytes.getAsLong() + recordSize - 1) / recordSize));
    }
    return limit;
  }
}
