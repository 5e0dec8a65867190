package io.strata.kafka.turns;

import java.util.List;
import java.util.concurrent.Callable;

/** What several threads do to one thing. Made anew for each seed. */
public interface Play {

  /** One for each thread. */
  List<Callable<?>> parts();

  /** Looks at what is left when all threads have ended. */
  void end() throws Exception;
}
