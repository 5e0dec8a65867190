package io.strata.kafka.crash;

/** Where in the code something is made durable, and which of these places has no effect. */
public interface Sites {

  /** All have their effect. */
  Sites ALL = point -> false;

  /**
   * Whether the place that is being called from is to have no effect.
   *
   * @param point what it is about to do
   */
  boolean disabled(Point point);

  /** How often the place that has no effect, or is watched, has been met. */
  default long met() {
    return 0;
  }
}
