package io.strata.kafka.memory.calls;

/**
 * Text of unknown origin, fit for a log line or a terminal: the paths that a pool's slots and a
 * file's attributes hold may have been written by any program.
 */
public final class Printable {

  private Printable() {}

  /**
   * The text on one line, with {@code ?} for every character that a terminal or a reader of logs
   * could take for more than a letter: control characters, line separators, and those that turn the
   * direction of writing.
   */
  public static String of(String text) {
    return replace(text, false);
  }

  /** As {@link #of}, of text that has lines of its own. */
  public static String lines(String text) {
    return replace(text, true);
  }

  private static String replace(String text, boolean keepLines) {
    StringBuilder shown = null;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (isHarmful(c) && !(keepLines && (c == '\n' || c == '\r' || c == '\t'))) {
        if (shown == null) {
          shown = new StringBuilder(text);
        }
        shown.setCharAt(i, '?');
      }
    }
    return shown == null ? text : shown.toString();
  }

  private static boolean isHarmful(char c) {
    return Character.isISOControl(c)
        || c == '\u2028'
        || c == '\u2029'
        || (c >= '\u202a' && c <= '\u202e')
        || (c >= '\u2066' && c <= '\u2069');
  }
}
