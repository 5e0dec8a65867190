package io.strata.kafka.metrics;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;

/**
 * Makes the values of the tag {@code pool}. A reporter may write other characters of a value as
 * {@code _}, and answers no scrape any more when two metrics are then the same: Strimzi's does so.
 * Stateless.
 */
final class PoolLabels {

  private PoolLabels() {}

  /**
   * Returns a label for each pool: its path, where no path before it in alphabetical order reads
   * the same; else the path with the first of {@code -2}, {@code -3} and so on that is free.
   */
  static List<String> of(List<String> paths) {
    Set<String> taken = new HashSet<>();
    TreeMap<String, String> labels = new TreeMap<>();
    paths.forEach(path -> labels.put(path, path));
    labels.replaceAll(
        (path, label) -> {
          String free = path;
          for (int i = 2; !taken.add(folded(free)); i++) {
            free = path + "-" + i;
          }
          return free;
        });
    return paths.stream().map(path -> labels.getOrDefault(path, path)).toList();
  }

  private static String folded(String label) {
    return label.replaceAll("[^A-Za-z0-9]", "_");
  }
}
