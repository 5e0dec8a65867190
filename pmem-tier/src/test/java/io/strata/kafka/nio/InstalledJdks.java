package io.strata.kafka.nio;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The JDKs that a test can start: the one that runs it, and its neighbours. */
final class InstalledJdks {

  private static final Pattern FEATURE_VERSION = Pattern.compile("JAVA_VERSION=\"([0-9]+)[\".]");
  private static final int BASELINE = 17;

  private InstalledJdks() {}

  /** Homes of the JDKs that we support, ours first. */
  static List<Path> all() throws IOException {
    Path ours = Path.of(System.getProperty("java.home")).toRealPath();
    Set<Path> homes = new LinkedHashSet<>();
    homes.add(ours);
    Path parent = ours.getParent();
    if (parent != null) {
      try (Stream<Path> neighbours = Files.list(parent)) {
        for (Path home : neighbours.sorted().toList()) {
          if (Files.isExecutable(home.resolve("bin/java")) && isSupported(home)) {
            homes.add(home.toRealPath());
          }
        }
      }
    }
    return List.copyOf(homes);
  }

  private static boolean isSupported(Path home) throws IOException {
    Path release = home.resolve("release");
    if (!Files.exists(release)) {
      return false;
    }
    Matcher version = FEATURE_VERSION.matcher(Files.readString(release));
    return version.find() && Integer.parseInt(version.group(1)) >= BASELINE;
  }
}
