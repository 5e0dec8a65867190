package io.strata.kafka.migration.remote.store;

import java.io.IOException;
import java.nio.file.Path;

/** What the remote tier asks of the local ones. */
public interface LocalSegments {

  /**
   * Makes {@code target} a file of its own with the segment's bytes, durably, without copying them,
   * if that can be done: the log file has all of the segment's bytes, and the file system that both
   * are on shares blocks until one of the files is changed.
   *
   * @param segment a segment's log file
   * @param target the store's file
   * @return false where it cannot be done, and {@code target} does not exist then: copy
   * @throws IOException if the segment cannot be read, or the target exists
   */
  boolean share(Path segment, Path target) throws IOException;

  /** Never shares. */
  LocalSegments COPY_ALWAYS = (segment, target) -> false;
}
