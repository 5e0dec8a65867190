package io.strata.kafka.crash;

/** Hears of every point at which a crash can come, before its effect. */
@FunctionalInterface
public interface Points {

  /** Does nothing. */
  Points NONE = point -> true;

  /**
   * A point has been reached.
   *
   * @return whether it is to have its effect; without it what is to be made durable is not. Has no
   *     meaning for other points
   */
  boolean before(Point point);
}
