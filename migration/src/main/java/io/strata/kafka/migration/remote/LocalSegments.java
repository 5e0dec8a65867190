package io.strata.kafka.migration.remote;

import java.io.IOException;
import java.nio.file.Path;

/**
 * What the remote tier asks of the local ones.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
public interface LocalSegments {

  /** How a file of the store shares its bytes with home. */
  enum Sharing {
    /** It does not: nothing was made; copy. */
    NONE,
    /**
     * It is a second name of home's file. Whoever changes home through Strata gives the store a
     * copy of its own before.
     */
    HARD_LINK,
    /**
     * It is a file of its own; the file system shares the blocks until one of the two is changed.
     */
    REFLINK
  }

  /**
   * Makes {@code target} a file with the same bytes as the segment's, without copying them, if that
   * can be done: home has all of the segment's bytes, durably, and is on the same file system.
   *
   * @param segment a sealed segment's file in a log directory
   * @param target the store's file in its <em>final</em> place, or one in a directory that is
   *     renamed as a whole: {@code published} says where it will be
   * @param published where {@code target} is to be found later
   * @return what was done; {@link Sharing#NONE} where it cannot be done, and {@code target} does
   *     not exist then
   * @throws IOException if the segment cannot be read, or the target exists
   */
  Sharing share(Path segment, Path target, Path published) throws IOException;

  /** Never shares. */
  LocalSegments COPY_ALWAYS = (segment, target, published) -> Sharing.NONE;
}
