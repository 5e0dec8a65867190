package io.strata.kafka.migration.remote;

/** A class that the broker's class path and a jar both have. */
public final class Flavour {

  private Flavour() {}

  /** Which of the two it is. */
  public static String name() {
    return "the broker's";
  }
}
