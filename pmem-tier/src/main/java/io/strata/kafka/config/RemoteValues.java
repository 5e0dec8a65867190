package io.strata.kafka.config;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.migration.remote.RemoteSettings;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The parsers of the remote tier's values. Each throws IllegalArgumentException for what is not
 * one.
 */
final class RemoteValues {
  private static final Pattern CLASS = Pattern.compile("[A-Za-z_$][\\w$]*(\\.[A-Za-z_$][\\w$]*)*");
  private static final long LEAST_CHUNK = 64 << 10;
  private static final long LARGEST_CHUNK = 16 << 20;

  private RemoteValues() {}

  static List<String> parseLevels(String value) {
    List<String> names = Values.parseNames("level", value);
    if (names.contains(SegmentView.LOG_DIRS)) {
      throw new IllegalArgumentException(
          "logdirs is the tier of Kafka's log directories: call no level so");
    }
    if (names.contains(RemoteSettings.COLD)) {
      throw new IllegalArgumentException(
          "cold is the level of the manager that rsm.config.cold.class.name names: leave it out,"
              + " and call no other so");
    }
    return names;
  }

  /** At least one, absolute, none twice. */
  static List<Path> parseDirectories(String value) {
    Set<Path> directories = new LinkedHashSet<>();
    for (String name : BrokerProperties.list(value)) {
      Path directory;
      try {
        directory = Path.of(name);
      } catch (InvalidPathException e) {
        throw new IllegalArgumentException("'" + name + "' is not a path: " + e.getReason(), e);
      }
      if (!directory.isAbsolute()) {
        throw new IllegalArgumentException("'" + name + "' is not absolute");
      }
      if (!directories.add(directory.normalize())) {
        throw new IllegalArgumentException("'" + name + "' is listed twice");
      }
    }
    if (directories.isEmpty()) {
      throw new IllegalArgumentException("the list is empty");
    }
    return List.copyOf(directories);
  }

  static List<Long> parseCapacities(String value) {
    List<Long> capacities = new ArrayList<>();
    for (String amount : BrokerProperties.list(value)) {
      long bytes = parseBytes(amount);
      if (bytes == 0) {
        throw new IllegalArgumentException("'" + amount + "' is nothing");
      }
      capacities.add(bytes);
    }
    if (capacities.isEmpty()) {
      throw new IllegalArgumentException("the list is empty");
    }
    return List.copyOf(capacities);
  }

  static long parseBytes(String value) {
    if (value.endsWith("/s")) {
      throw new IllegalArgumentException("an amount, not a rate");
    }
    return ByteAmount.parse(value).bytes();
  }

  static int parseChunkSize(String value) {
    long bytes = parseBytes(value);
    if (bytes < LEAST_CHUNK || bytes > LARGEST_CHUNK || Long.bitCount(bytes) != 1) {
      throw new IllegalArgumentException(bytes + " bytes");
    }
    return Math.toIntExact(bytes);
  }

  static StrataKey.Parser<Long> zeroOrBetween(long least, long most) {
    StrataKey.Parser<Long> between = Values.longBetween(least, most);
    return value -> value.equals("0") ? 0L : between.parse(value);
  }

  static String parseClassName(String value) {
    if (!CLASS.matcher(value).matches()) {
      throw new IllegalArgumentException("not the name of a class");
    }
    return value;
  }

  /** Any text. */
  static String parseText(String value) {
    return value;
  }
}
