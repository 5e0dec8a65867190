package io.strata.kafka.config;

import io.strata.kafka.config.key.ConfigProblem;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.zip.ZipFile;

/** Checks those of Kafka's own keys that Strata depends on. */
final class BrokerChecks {
  static final String STRATA_REPORTER = "io.strata.kafka.StrataReporter";
  static final String JMX_REPORTER = "org.apache.kafka.common.metrics.JmxReporter";

  /** A class that is in our jar and in no other. */
  static final String OWN_CLASS = "io/strata/kafka/nio/StrataFileSystemProvider.class";

  private static final String OWN_PACKAGES = "io.strata.kafka.";

  private final BrokerProperties broker;
  private final List<ConfigProblem> problems = new ArrayList<>();

  private BrokerChecks(BrokerProperties broker) {
    this.broker = broker;
  }

  static List<ConfigProblem> check(BrokerProperties broker) {
    BrokerChecks checks = new BrokerChecks(broker);
    if (broker.logPreallocate()) {
      checks.refuse(
          BrokerProperties.LOG_PREALLOCATE,
          "'true'",
          "false",
          """
          remove it: with it Kafka creates segments through RandomAccessFile, past Strata, and none \
          would be placed in a pool\
          """);
    }
    broker.links().warning().ifPresent(checks.problems::add);
    checks.reporters();
    checks.problems.addAll(checkStorageManager(broker));
    checks.directories();
    broker.strataConfig().config().ifPresent(checks::pools);
    return checks.problems;
  }

  private void refuse(String key, String found, String expected, String action) {
    problems.add(ConfigProblem.error(key, found, expected, action));
  }

  /**
   * The class path of the remote storage manager. Kafka's loader takes a class from there, and from
   * the broker's class path what is not there: our manager is loaded twice when the path holds it.
   */
  static List<ConfigProblem> checkStorageManager(BrokerProperties broker) {
    return broker
        .remoteStorageManagerClassName()
        .filter(name -> name.startsWith(OWN_PACKAGES))
        .flatMap(own -> broker.remoteStorageManagerClassPath())
        .flatMap(path -> firstOwnEntry(path).map(entry -> secondCopy(path, entry)))
        .stream()
        .toList();
  }

  private static ConfigProblem secondCopy(String classPath, String entry) {
    return ConfigProblem.error(
        BrokerProperties.REMOTE_STORAGE_MANAGER + ".path",
        "'" + classPath + "' (" + entry + " holds Strata)",
        "a class path without Strata's jar",
        """
        remove the key or the entry: with it Kafka loads a second copy of Strata's classes, which \
        does not have the first one's pools and settings\
        """);
  }

  private void reporters() {
    List<String> reporters = broker.metricReporters();
    String quoted = "'" + String.join(",", reporters) + "'";
    if (!reporters.contains(STRATA_REPORTER)) {
      refuse(
          BrokerProperties.METRIC_REPORTERS,
          quoted,
          "a list with " + STRATA_REPORTER,
          """
          add it: it keeps the broker from starting without Strata and then losing the records that \
          are in the pool\
          """);
    } else if (!reporters.contains(JMX_REPORTER)) {
      problems.add(
          ConfigProblem.warning(
              BrokerProperties.METRIC_REPORTERS,
              quoted,
              "a list that still has Kafka's default " + JMX_REPORTER,
              "add it, or Kafka's own metrics are missing in JMX"));
    }
  }

  private void directories() {
    for (String key :
        List.of(
            BrokerProperties.LOG_DIRS,
            BrokerProperties.LOG_DIR,
            BrokerProperties.METADATA_LOG_DIR,
            BrokerProperties.PROCESS_ROLES,
            BrokerProperties.NODE_ID)) {
      String value = broker.get(key).orElse("");
      if (value.contains("${")) {
        refuse(
            key,
            "'" + value + "'",
            "the value itself",
            """
            write it without a configuration provider: Strata reads it before Kafka starts and does \
            not resolve providers\
            """);
      }
    }
  }

  /** Kafka takes a directory in a log directory for a partition's: deletes it with its topic. */
  private void pools(StrataConfig config) {
    Set<Path> logDirectories = new LinkedHashSet<>();
    broker.logDirs().forEach(directory -> logDirectories.add(real(directory)));
    logDirectories.add(real(broker.metadataLogDir()));
    Map<Path, Path> seen = new HashMap<>();
    for (StrataConfig.Tier tier : config.tiers()) {
      String key =
          broker.get(StrataKeys.POOLS.name()).isPresent()
              ? StrataKeys.POOLS.name()
              : StrataKeys.TIER_POOLS.with(tier.name()).name();
      for (Path pool : tier.pools()) {
        Path file = real(pool);
        for (Path each : logDirectories) {
          if (file.startsWith(each) && !each.equals(file.getParent())) {
            refuse(
                key,
                "'%s', which is in a directory of the log directory %s".formatted(pool, each),
                "a file outside of log.dirs and metadata.log.dir",
                """
                move the pool out of there while no broker runs: Kafka takes each directory in a \
                log directory for a partition's, and deletes it with its topic\
                """);
            break;
          }
        }
        Path same = seen.putIfAbsent(file, pool);
        if (same != null) {
          refuse(
              key,
              "'%s' and '%s', which are one file".formatted(same, pool),
              "each pool once",
              "take one of the two out");
        }
      }
    }
  }

  /** Follows the links of what is there. */
  static Path real(Path path) {
    try {
      return Path.of(new File(path.toString()).getCanonicalPath());
    } catch (IOException e) {
      return path; // A loop of links, for one: what opens it says so.
    }
  }

  /** The first entry of a class path that holds our classes, as Kafka would search it. */
  static Optional<String> firstOwnEntry(String classPath) {
    return BrokerProperties.classPathFiles(classPath)
        .filter(entry -> new File(entry, OWN_CLASS).isFile() || isJarWithOwnClass(entry))
        .map(File::getPath)
        .findFirst();
  }

  private static boolean isJarWithOwnClass(File file) {
    if (!file.isFile()) {
      return false;
    }
    try (ZipFile jar = new ZipFile(file)) {
      return jar.getEntry(OWN_CLASS) != null;
    } catch (IOException e) {
      // Not a jar, or unreadable: Kafka's class loader skips it as well, so nothing loads twice.
      return false;
    }
  }
}
