package io.strata.kafka.tier;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The disks of the log directories, one for each.
 *
 * <p>Immutable; as safe as {@link LogDiskPace}.
 */
final class LogDisks {

  private final Map<Path, LogDiskPace> byDirectory = new LinkedHashMap<>();
  private final LogDiskPace other;

  LogDisks(List<Path> logDirectories, LogDiskPace.Time time) {
    other = new LogDiskPace(time);
    logDirectories.forEach(directory -> byDirectory.put(directory, new LogDiskPace(time)));
  }

  /** The disk of the log directory that a file is in; one for all files outside of them. */
  LogDiskPace of(Path file) {
    for (Map.Entry<Path, LogDiskPace> each : byDirectory.entrySet()) {
      if (file.startsWith(each.getKey())) {
        return each.getValue();
      }
    }
    return other;
  }
}
