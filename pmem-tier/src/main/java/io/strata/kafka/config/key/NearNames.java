package io.strata.kafka.config.key;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Finds the names that may have been meant by one that is not there. Stateless. */
public final class NearNames {

  private NearNames() {}

  /** Returns those of {@code names} that are like the missing one, the most like it first. */
  public static List<String> of(String missing, Collection<String> names) {
    return names.stream()
        .filter(name -> isNear(missing, name))
        .sorted(Comparator.comparingInt(name -> distance(missing, name)))
        .toList();
  }

  /**
   * Returns whether one contains the other, or few characters differ. Dotted parts with which both
   * begin do not count: all keys begin with the same ones.
   */
  private static boolean isNear(String missing, String name) {
    String one = missing.toLowerCase(Locale.ROOT);
    String other = name.toLowerCase(Locale.ROOT);
    if (one.contains(other) || other.contains(one)) {
      return true;
    }
    int begin = commonParts(one, other);
    int shorter = Math.min(one.length(), other.length()) - begin;
    return distance(one, other) <= Math.max(1, shorter / 3);
  }

  /** Returns the length of the dotted parts, dots included, with which both begin. */
  private static int commonParts(String one, String other) {
    int at = 0;
    int end = 0;
    while (at < one.length() && at < other.length() && one.charAt(at) == other.charAt(at)) {
      at++;
      if (one.charAt(at - 1) == '.') {
        end = at;
      }
    }
    return end;
  }

  /** Returns the least number of characters to insert, delete or replace (Levenshtein). */
  public static int distance(String a, String b) {
    int[] previous = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      previous[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int[] row = new int[b.length() + 1];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = previous[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(replaced, Math.min(previous[j], row[j - 1]) + 1);
      }
      previous = row;
    }
    return previous[b.length()];
  }
}
