package io.strata.kafka.bench.load;

/** A client of a group, run by a thread of its own. */
interface LoadClient extends AutoCloseable {

  /** Connects, so that connecting is not measured. */
  void prepare() throws Exception;

  /** Waits for the start, and works until its end. */
  void run() throws Exception;

  @Override
  void close();
}
