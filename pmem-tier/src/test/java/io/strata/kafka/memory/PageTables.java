package io.strata.kafka.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads which pages of its mappings this process has. Stateless. */
public final class PageTables {
  private static final String PRESENT = "Rss:";

  private PageTables() {}

  /** The present pages of all mappings of a file, in KiB; 0 where the system does not say. */
  public static long kibibytesOf(Path file) throws IOException {
    long sum = 0;
    boolean of = false;
    for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
      if (line.matches("[0-9a-f]+-[0-9a-f]+ .*")) {
        of = line.endsWith(" " + file.toRealPath());
      } else if (of && line.startsWith(PRESENT)) {
        sum += Long.parseLong(line.substring(PRESENT.length()).replace("kB", "").strip());
      }
    }
    return sum;
  }
}
