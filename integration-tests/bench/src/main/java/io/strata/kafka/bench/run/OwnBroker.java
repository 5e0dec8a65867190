package io.strata.kafka.bench.run;

import java.io.IOException;

/** The only broker of a cluster, as what has started it can stop and start it. */
public interface OwnBroker {

  /**
   * Stops it in an orderly way, and returns when it has ended.
   *
   * @throws IOException if it does not stop; it is killed then
   */
  void stop() throws IOException, InterruptedException;

  /** Kills it, and returns when it has ended. */
  void kill() throws IOException, InterruptedException;

  /** Starts its process on what the one before has left, and returns at once. */
  void start() throws IOException;

  /**
   * Returns if its process runs.
   *
   * @throws IOException if it has ended; the message has the end of its output
   */
  void requireAlive() throws IOException;
}
