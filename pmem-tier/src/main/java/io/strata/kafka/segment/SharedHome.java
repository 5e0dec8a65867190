package io.strata.kafka.segment;

import java.io.IOException;
import java.util.Optional;

/**
 * Whether home's file is an object of the remote tier's store as well, and what must come before it
 * is changed then.
 *
 * <p>Thread safety: all calls under the segment's writer lock, save {@link #isLinked}.
 */
final class SharedHome {

  private volatile Optional<StoreLink> link = Optional.empty();

  /** Whether somebody may write to home past the writer, through a mapping. */
  private boolean mapped;

  /** Whether home's file may be an object of the store. */
  boolean isLinked() {
    return link.isPresent();
  }

  /** Home's file is an object of the store, or is about to become one. */
  void linked(StoreLink to) {
    link = Optional.of(to);
  }

  /** Whether nobody can change home without {@link #beforeChange}. */
  boolean mayBeLinked() {
    return !mapped;
  }

  /** Home is about to be mapped for writing. */
  void mapping() throws IOException {
    beforeChange();
    mapped = true;
  }

  /**
   * Home is about to be changed: gives the store's object a file of its own.
   *
   * @throws IOException if that fails; home must not be changed
   */
  void beforeChange() throws IOException {
    Optional<StoreLink> shared = link;
    if (shared.isPresent()) {
      boolean unused = shared.get().unshare();
      link = Optional.empty();
    }
  }
}
