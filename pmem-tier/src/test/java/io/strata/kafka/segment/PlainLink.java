package io.strata.kafka.segment;

import java.io.IOException;

/**
 * A tie that is one step, and needs nothing undone.
 *
 * @param step done when the log file is to be tied to a copy
 */
record PlainLink(Step step) implements Segment.Link {

  /** Nothing ties the log file. */
  static final Segment.Link NONE = new PlainLink(() -> {});

  /** What is done. */
  interface Step {
    void run() throws IOException;
  }

  @Override
  public void link() throws IOException {
    step.run();
  }

  @Override
  public void unlink() {}
}
