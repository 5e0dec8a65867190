package io.strata.kafka.migration.remote;

/**
 * A trouble that lasts is told once: again only when it is another one, or was over meanwhile.
 *
 * <p>Thread safety: used by one thread.
 */
final class ToldOnce {

  private String last = "";

  /** There is trouble; whether that is to be told. */
  boolean isNew(String trouble) {
    boolean told = trouble.equals(last);
    last = trouble;
    return !told;
  }

  /** There is none. */
  void over() {
    last = "";
  }
}
