package io.strata.kafka.crash;

import java.io.IOException;

/** Hears of every call before it is made, and can have it fail. */
@FunctionalInterface
public interface Calls {

  /** Has all of them succeed. */
  Calls NONE = (call, on, bytes) -> bytes;

  /**
   * A call is about to be made.
   *
   * @param on the path or the pool's file
   * @param bytes how many bytes are to be written, 0 for other calls
   * @return how many of them are written
   * @throws IOException if the call fails, without effect
   */
  int before(Call call, String on, int bytes) throws IOException;
}
