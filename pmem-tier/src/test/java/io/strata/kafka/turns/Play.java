package io.strata.kafka.turns;

import java.util.List;
import java.util.concurrent.Callable;

/** What several threads do to one thing. Made anew for each seed. */
public interface Play {

  /** One for each thread. */
  List<Callable<?>> parts();

  /**
   * Whether two threads may access the same bytes of a pool at once, since they are looked at
   * again, or do not count; threads are numbered as their parts.
   */
  default boolean mayRace(int one, int other) {
    return false;
  }

  /** Looks at what is left when all threads have ended. */
  void end() throws Exception;
}
