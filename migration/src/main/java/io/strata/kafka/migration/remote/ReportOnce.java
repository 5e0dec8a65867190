package io.strata.kafka.migration.remote;

/**
 * Has a trouble that lasts reported once: again only if it is another one, or was over meanwhile.
 *
 * <p>Thread safety: used by one thread.
 */
final class ReportOnce {

  private String last = "";

  /** Notes a trouble; returns whether it is to be reported. */
  boolean isNew(String trouble) {
    boolean isNew = !trouble.equals(last);
    last = trouble;
    return isNew;
  }

  /** Notes that there is no trouble. */
  void over() {
    last = "";
  }
}
