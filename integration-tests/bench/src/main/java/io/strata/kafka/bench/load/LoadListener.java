package io.strata.kafka.bench.load;

import java.util.Map;

/** Hears of a phase's load on one host. Calls come from several threads. */
public interface LoadListener {

  /**
   * An interval has passed.
   *
   * @param index its number, from 0
   * @param fromSeconds when it began, after the phase's start
   * @param toSeconds when it ended
   * @param groups by name
   */
  void interval(int index, double fromSeconds, double toSeconds, Map<String, GroupInterval> groups);

  /**
   * All of a group's clients on this host have ended.
   *
   * @param seconds when the last record was acknowledged or read, after the phase's start
   */
  void ended(String group, double seconds);

  /** A client has failed; the phase is over. */
  void failed(String what);

  /** All groups have ended, and the last interval was reported. */
  void finished();
}
