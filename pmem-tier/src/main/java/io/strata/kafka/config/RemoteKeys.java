package io.strata.kafka.config;

import io.strata.kafka.config.StrataKeys.Catalogue;
import io.strata.kafka.config.key.StrataKey;
import io.strata.kafka.migration.remote.RemoteSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;

/**
 * The keys of the remote tier, {@code rsm.config.*}: Kafka hands them to the manager without that
 * prefix. The keys of the moves between levels are in {@link MigrationKeys}.
 */
public final class RemoteKeys {

  /** The prefix of the keys that Kafka hands to the manager, unless that is changed. */
  public static final String MANAGER_PREFIX = "rsm.config.";

  /** Kafka's key by which that is changed. */
  static final String MANAGER_PREFIX_KEY = "remote.log.storage.manager.impl.prefix";

  static final String COLD_PREFIX = MANAGER_PREFIX + RemoteSettings.COLD + ".";

  public static final StrataKey<List<String>> LEVELS =
      StrataKey.named("rsm.config.levels", "list of names", Values::parseLevels)
          .otherwise("none: required")
          .expected(
              """
              a comma-separated list of names, each once: lower-case letters, digits and hyphens, \
              a letter first, 32 characters at most, and neither logdirs nor cold\
              """)
          .documentation(
              """
              The levels of the store, fastest first. Each has directories of its own \
              (`rsm.config.<level>.directories`). A segment is copied to the first level that has \
              space, and moves between them as `rsm.config.migration.*` says. Where another \
              manager has the lowest level (`rsm.config.cold.class.name`), that level is called \
              `cold` and is not listed.\
              """);

  public static final StrataKey<List<Path>> LEVEL_DIRECTORIES =
      StrataKey.named(
              "rsm.config.<level>.directories", "list of directories", Values::parseDirectories)
          .otherwise("none: required for each level")
          .expected(
              """
              a comma-separated list of absolute directories that exist, each once and in one \
              level only\
              """)
          .documentation(
              """
              The directories of one level, several if it has several devices; a segment lies \
              wholly in one. They must exist: what is not there may just not be mounted. None may \
              be inside another, nor in, nor around, a log directory. All brokers of a cluster \
              must see the same directories, under the same names or others; one broker alone may \
              use its own disks.\
              """);

  public static final StrataKey<List<Long>> LEVEL_CAPACITY =
      StrataKey.named("rsm.config.<level>.capacity", "list of bytes", Values::parseCapacities)
          .otherwise("the size of the directory's file system less 5 %")
          .expected(
              """
              an amount for each directory, or one for all of them, for example 500GB or 2TiB,4TiB\
              """)
          .documentation(
              """
              What the store may take of a level's directories: one amount for each of them, in \
              their order, or one that holds for each. kB, MB, GB and TB are powers of 1000; KiB, \
              MiB, GiB and TiB powers of 1024.\
              """);

  public static final StrataKey<String> COLD_CLASS_NAME =
      StrataKey.named("rsm.config.cold.class.name", "class name", Values::parseClassName)
          .otherwise("none: the store has the listed levels alone")
          .expected(
              """
              the name of a class that implements \
              org.apache.kafka.server.log.remote.storage.RemoteStorageManager, not Strata's own\
              """)
          .documentation(
              """
              Another `RemoteStorageManager`, which then has the lowest level, below all of \
              `rsm.config.levels`: where a segment is to end in S3, GCS or Azure, for example. \
              The levels above it work as without it.\
              """);

  public static final StrataKey<String> COLD_CLASS_PATH =
      StrataKey.named("rsm.config.cold.class.path", "class path", Function.identity())
          .otherwise("the broker's class path")
          .expected("a class path without Strata's jar")
          .documentation(
              """
              Where that manager's classes are, as for Kafka's own \
              `remote.log.storage.manager.class.path`: files and directories, `/*` for all jars \
              of one. They are loaded apart from the broker's.\
              """);

  public static final StrataKey<String> COLD_CONFIG =
      StrataKey.named("rsm.config.cold.<key>", "text", Function.identity())
          .otherwise("the manager's own default")
          .expected("what the manager expects")
          .documentation(
              "Handed to that manager as `<key>`; what there is, its own documentation says.");

  public static final StrataKey<List<Path>> LOG_DIRS =
      StrataKey.named(
              MANAGER_PREFIX + BrokerProperties.LOG_DIRS,
              "list of directories",
              Values::parseLogDirectories)
          .otherwise("`log.dirs` of the broker's file")
          .expected("the value of log.dirs: a comma-separated list of directories, each once")
          .documentation(
              """
              Only for a broker that is embedded in another program: Strata finds no file of it, \
              and learns here which its log directories are. They have the cluster's id. Where \
              there is a file, its `log.dirs` holds.\
              """);

  public static final StrataKey<Long> COPY_TIMEOUT_MS =
      StrataKey.named(
              "rsm.config.copy.timeout.ms", Values.number("milliseconds", 1_000L, 86_400_000L))
          .defaultValue("600000")
          .live()
          .documentation(
              """
              The longest that a copy of a segment to the store may take. It then fails, and Kafka tries again. Kafka \
              waits for a copy without end, and copies nothing else of that partition meanwhile.\
              """);

  public static final StrataKey<Long> FETCH_TIMEOUT_MS =
      StrataKey.named(
              "rsm.config.fetch.timeout.ms", Values.number("milliseconds", 100L, 3_600_000L))
          .defaultValue("30000")
          .live()
          .documentation(
              """
              The longest that the reads of one fetch of Kafka's may take, all together, and that \
              of an index.\
              """);

  public static final StrataKey<Long> SCRUB_INTERVAL_MS =
      StrataKey.named(
              "rsm.config.scrub.interval.ms",
              "milliseconds",
              Values.zeroOrBetween(1_000L, 31_536_000_000L))
          .defaultValue("604800000")
          .expected("0 for never, or a number from 1000 to 31536000000")
          .live()
          .documentation(
              """
              How often every byte of the store is read and compared with its checksum. One \
              broker of the cluster does it. `0`: never; see `strata remote scrub`.\
              """);

  /** The keys of the remote tier, in the order of the reference page. */
  public static final Catalogue REMOTE =
      Catalogue.of(
          List.of(
              LEVELS,
              LEVEL_DIRECTORIES,
              LEVEL_CAPACITY,
              COLD_CLASS_NAME,
              COLD_CLASS_PATH,
              COLD_CONFIG,
              LOG_DIRS,
              COPY_TIMEOUT_MS,
              FETCH_TIMEOUT_MS,
              SCRUB_INTERVAL_MS),
          MigrationKeys.REMOTE);

  private RemoteKeys() {}

  /** Returns whether a name, with prefix, is a key of the remote tier or its cold manager. */
  static boolean isKnown(String name) {
    return name.startsWith(COLD_PREFIX)
        || LEVEL_DIRECTORIES.partOf(name).isPresent()
        || LEVEL_CAPACITY.partOf(name).isPresent()
        || REMOTE.find(name).isPresent();
  }
}
