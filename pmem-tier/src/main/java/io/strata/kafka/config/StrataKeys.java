package io.strata.kafka.config;

import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.migration.MigrationSettings;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The catalogue of the {@code strata.*} keys: each is declared here, once, and nowhere else, save
 * those of the remote tier ({@link RemoteKeys}). The page {@code docs/reference/configuration.md}
 * is generated from both.
 *
 * <p>Immutable and safe for use by any thread.
 */
public final class StrataKeys {

  /** What every key begins with. */
  public static final String PREFIX = "strata.";

  /** {@code strata.tiers}. */
  public static final StrataKey<List<String>> TIERS =
      StrataKey.named("strata.tiers", "list of names", Values::parseTiers)
          .defaultValue("hot")
          .expected(
              "a comma-separated list of names, each once: lower-case letters, digits and hyphens,"
                  + " a letter first, 32 characters at most, and not logdirs")
          .documentation(
              "The tiers above Kafka's log directories, fastest first. Each has its own pools"
                  + " (`strata.tier.<name>.pools`). The log directories are always the last tier."
                  + " It is called `logdirs` and is not listed.")
          .build();

  /** {@code strata.pools}. */
  public static final StrataKey<List<Path>> POOLS =
      StrataKey.named("strata.pools", "list of files", Values::parseFiles)
          .otherwise("none: required, unless `strata.tier.<first>.pools` is set")
          .expected("a comma-separated list of pool files, each once")
          .documentation(
              "The pool files of the first tier: the same as `strata.tier.<first>.pools`, shorter"
                  + " where there is one tier; set one of the two. Create each with `strata pool"
                  + " create`. A segment lies wholly in one pool; new segments go to the pool with"
                  + " the most free room. A pool that holds segments must stay in the list: take it"
                  + " out after `strata drain`. Relative names are resolved against the working"
                  + " directory of the broker.")
          .build();

  /** {@code strata.pool.type}. */
  public static final StrataKey<MemoryType> POOL_TYPE =
      StrataKey.named("strata.pool.type", "name", Values::parseMemoryType)
          .defaultValue("mapped")
          .expected("one of " + Values.names(MemoryType.values(), MemoryType::configName))
          .documentation(
              "How the pools are reached, where `strata.tier.<name>.type` says nothing else."
                  + " `mapped`: a shared mapping by the JDK alone, durable"
                  + " across a power cut on a DAX file system. `pmem`: libpmem, for Linux on"
                  + " x86-64 with the native libraries installed. `file`: a file on NVMe or SSD,"
                  + " durable when Kafka flushes.")
          .build();

  /** {@code strata.pool.prefault}. */
  public static final StrataKey<Boolean> POOL_PREFAULT =
      StrataKey.named("strata.pool.prefault", "boolean", Values::parseBoolean)
          .defaultValue("false")
          .expected("true or false")
          .documentation(
              "Whether every page of a pool is touched when it is opened, so that no append meets"
                  + " a page fault later. It makes the start slower: about a second for 4 GiB on a"
                  + " memory-backed file system.")
          .build();

  /** {@code strata.tier.<name>.pools}. */
  public static final StrataKey<List<Path>> TIER_POOLS =
      StrataKey.named("strata.tier.<name>.pools", "list of files", Values::parseFiles)
          .otherwise(
              "none: required for each tier; for the first, `strata.pools` may take its place")
          .expected("a comma-separated list of pool files, each once and in one tier only")
          .documentation(
              "The pool files of one tier, several if it has several devices (one per socket, for"
                  + " example). See `strata.pools`.")
          .build();

  /** {@code strata.tier.<name>.type}. */
  public static final StrataKey<MemoryType> TIER_TYPE =
      StrataKey.named("strata.tier.<name>.type", "name", Values::parseMemoryType)
          .otherwise("the value of `strata.pool.type`")
          .expected("one of " + Values.names(MemoryType.values(), MemoryType::configName))
          .documentation("How the pools of one tier are reached. See `strata.pool.type`.")
          .build();

  /** {@code strata.tier.<name>.threshold}. */
  public static final StrataKey<Double> TIER_THRESHOLD =
      StrataKey.named("strata.tier.<name>.threshold", "share", Values::parseThreshold)
          .otherwise("the value of `strata.migration.threshold`")
          .expected("-1, or a number from 0 to 1")
          .documentation("The threshold of one tier. See `strata.migration.threshold`.")
          .dynamic()
          .build();

  /** {@code strata.topics.include}. */
  public static final StrataKey<List<String>> TOPICS_INCLUDE =
      StrataKey.named(
              "strata.topics.include", "list of regular expressions", Values::parseExpressions)
          .defaultValue(".*")
          .expected("a comma-separated list of regular expressions (java.util.regex)")
          .documentation(
              "Topics whose new segments may be placed in a pool: those whose whole name matches"
                  + " one of the expressions. A comma inside braces, brackets or parentheses, or"
                  + " after a backslash, belongs to its expression. `__cluster_metadata` is never"
                  + " placed, and cannot be asked for. Segments that are already in a pool"
                  + " stay there.")
          .build();

  /** {@code strata.topics.exclude}. */
  public static final StrataKey<List<String>> TOPICS_EXCLUDE =
      StrataKey.named(
              "strata.topics.exclude", "list of regular expressions", Values::parseExpressions)
          .defaultValue("")
          .expected("a comma-separated list of regular expressions (java.util.regex)")
          .documentation(
              "Topics whose new segments are never placed in a pool, though"
                  + " `strata.topics.include` matches.")
          .build();

  /** {@code strata.require.dax}. */
  public static final StrataKey<Boolean> REQUIRE_DAX =
      StrataKey.named("strata.require.dax", "boolean", Values::parseBoolean)
          .defaultValue("false")
          .expected("true or false")
          .documentation(
              "Whether the broker refuses to start when a pool of the first tier does not survive a"
                  + " power cut, because its file system is not DAX or its type is `file`.")
          .build();

  /** {@code strata.spill.force}. */
  public static final StrataKey<SpillForce> SPILL_FORCE =
      StrataKey.named("strata.spill.force", "name", Values::parseSpillForce)
          .defaultValue("auto")
          .expected("one of " + Values.names(SpillForce.values(), SpillForce::configName))
          .documentation(
              "Whether an append that goes to the log file or to a lower tier, because the first"
                  + " tier is full, is forced to the medium before it is acknowledged. `auto`: when"
                  + " the first tier's pools survive a power cut, so that a full tier does not"
                  + " lower what an acknowledgement means; appends then go on at the rate of"
                  + " forced writes of the log directory's disk. `always`: on every pool. `never`:"
                  + " as a stock broker, when Kafka flushes, at the disk's unforced rate; a power"
                  + " cut may then take what a full tier has acknowledged.")
          .dynamic()
          .build();

  /** {@code strata.home.mtime.interval.ms}. */
  public static final StrataKey<Long> HOME_MTIME_INTERVAL_MS =
      StrataKey.named(
              "strata.home.mtime.interval.ms", "milliseconds", Values.longBetween(100, 60_000))
          .defaultValue("1000")
          .expected("a number from 100 to 60000")
          .documentation(
              "How often the modification time of a hot segment's file at home is brought up to"
                  + " date with its appends. Kafka reads that time past the provider, for records"
                  + " without a timestamp and for `kafka-log-dirs.sh`.")
          .build();

  /** {@code strata.migration.threshold}. */
  public static final StrataKey<Double> MIGRATION_THRESHOLD =
      StrataKey.named("strata.migration.threshold", "share", Values::parseThreshold)
          .defaultValue("0.5")
          .expected("-1, or a number from 0 to 1")
          .documentation(
              "The dirty share of a tier's capacity above which sealed segments are copied down,"
                  + " oldest first, until it is below the low mark (see"
                  + " `strata.migration.hysteresis`). Dirty are the bytes of segments whose only"
                  + " whole copy is in the tier. `0`: every segment as soon as it is sealed. `-1`:"
                  + " never. With `strata.migration.mode=threshold` it is the used share that"
                  + " counts.")
          .dynamic()
          .build();

  /** {@code strata.migration.mode}. */
  public static final StrataKey<MigrationSettings.Mode> MIGRATION_MODE =
      StrataKey.named("strata.migration.mode", "name", Values::parseMode)
          .defaultValue("eager")
          .expected(
              "one of "
                  + Values.names(
                      MigrationSettings.Mode.values(), MigrationSettings.Mode::configName))
          .documentation(
              "What becomes of a segment in a pool once a lower tier has it, too. `eager`: it stays"
                  + " readable in the pool until its room is needed, and is then given up without"
                  + " I/O. `threshold`: it is given up at once, as Pafka does.")
          .dynamic()
          .build();

  /** {@code strata.migration.hysteresis}. */
  public static final StrataKey<Double> MIGRATION_HYSTERESIS =
      StrataKey.named("strata.migration.hysteresis", "share", Values.doubleBetween(0, 1))
          .defaultValue("0.05")
          .expected("a number from 0 to 1")
          .documentation(
              "How far below its threshold a tier is brought once it is above: the low mark is the"
                  + " threshold less this, and not below 0.")
          .dynamic()
          .build();

  /** {@code strata.migration.promote}. */
  public static final StrataKey<Boolean> MIGRATION_PROMOTE =
      StrataKey.named("strata.migration.promote", "boolean", Values::parseBoolean)
          .defaultValue("true")
          .expected("true or false")
          .documentation(
              "Whether segments are copied back up when a faster tier has room and the policy wants"
                  + " them there.")
          .dynamic()
          .build();

  /** {@code strata.migration.threads}. */
  public static final StrataKey<Long> MIGRATION_THREADS =
      StrataKey.named("strata.migration.threads", "number", Values.longBetween(1, 64))
          .defaultValue("2")
          .expected("a number from 1 to 64")
          .documentation("How many segments are copied at once.")
          .dynamic()
          .build();

  /** {@code strata.migration.rate.down}. */
  public static final StrataKey<Long> MIGRATION_RATE_DOWN =
      StrataKey.named("strata.migration.rate.down", "bytes per second", Values::parseRate)
          .defaultValue("0")
          .expected("0 for no limit, or bytes per second, for example 80MB or 500MiB")
          .documentation(
              "The most that copies down may take, all threads together. kB, MB, GB and TB are"
                  + " powers of 1000; KiB, MiB, GiB and TiB powers of 1024. Appends never wait for"
                  + " it.")
          .dynamic()
          .build();

  /** {@code strata.migration.rate.up}. */
  public static final StrataKey<Long> MIGRATION_RATE_UP =
      StrataKey.named("strata.migration.rate.up", "bytes per second", Values::parseRate)
          .defaultValue("0")
          .expected("0 for no limit, or bytes per second, for example 80MB or 500MiB")
          .documentation(
              "The most that copies up may take, all threads together; units as for"
                  + " `strata.migration.rate.down`.")
          .dynamic()
          .build();

  /** {@code strata.migration.interval.ms}. */
  public static final StrataKey<Long> MIGRATION_INTERVAL_MS =
      StrataKey.named(
              "strata.migration.interval.ms", "milliseconds", Values.longBetween(100, 60_000))
          .defaultValue("1000")
          .expected("a number from 100 to 60000")
          .documentation(
              "The time between two planning rounds. A round also begins when a segment was sealed"
                  + " or an append found no room.")
          .dynamic()
          .build();

  /** {@code strata.migration.policy}. */
  public static final StrataKey<String> MIGRATION_POLICY =
      StrataKey.named("strata.migration.policy", "name", Values::parsePolicy)
          .defaultValue("newest")
          .expected("the name of a policy on the broker's class path")
          .documentation(
              "Which segments move. `newest`: the newest stay. `age`: a segment leaves after a"
                  + " time. `access`: what is read stays. Others can be added: see"
                  + " `io.strata.kafka.api.MigrationPolicy`.")
          .dynamic()
          .build();

  /** {@code strata.migration.policy.<parameter>}. */
  public static final StrataKey<String> MIGRATION_POLICY_PARAMETER =
      StrataKey.named("strata.migration.policy.<parameter>", "text", value -> value)
          .otherwise("the policy's own default")
          .expected("what the policy expects")
          .documentation(
              "A parameter of the policy. One of a policy that is not chosen is ignored, so that"
                  + " the policy can be changed on a live broker; one that no policy has is"
                  + " refused.")
          .dynamic()
          .build();

  /** {@code strata.migration.pin.topics}. */
  public static final StrataKey<List<String>> MIGRATION_PIN_TOPICS =
      StrataKey.named(
              "strata.migration.pin.topics",
              "list of regular expressions",
              Values::parseExpressions)
          .defaultValue("")
          .expected("a comma-separated list of regular expressions (java.util.regex)")
          .documentation(
              "Topics whose segments never leave their tier, whatever the policy says, and are the"
                  + " first to be copied up: those whose whole name matches one of the expressions."
                  + " What they take is missing for all others.")
          .dynamic()
          .build();

  /** {@code strata.migration.exclude.topics}. */
  public static final StrataKey<List<String>> MIGRATION_EXCLUDE_TOPICS =
      StrataKey.named(
              "strata.migration.exclude.topics",
              "list of regular expressions",
              Values::parseExpressions)
          .defaultValue("")
          .expected("a comma-separated list of regular expressions (java.util.regex)")
          .documentation(
              "Topics whose segments leave the pools as soon as they are sealed, and are never"
                  + " copied up. A topic that is pinned, too, is excluded.")
          .dynamic()
          .build();

  private static final List<StrataKey<?>> ALL =
      List.of(
          TIERS,
          POOLS,
          POOL_TYPE,
          POOL_PREFAULT,
          TIER_POOLS,
          TIER_TYPE,
          TIER_THRESHOLD,
          TOPICS_INCLUDE,
          TOPICS_EXCLUDE,
          REQUIRE_DAX,
          SPILL_FORCE,
          HOME_MTIME_INTERVAL_MS,
          MIGRATION_THRESHOLD,
          MIGRATION_MODE,
          MIGRATION_HYSTERESIS,
          MIGRATION_PROMOTE,
          MIGRATION_THREADS,
          MIGRATION_RATE_DOWN,
          MIGRATION_RATE_UP,
          MIGRATION_INTERVAL_MS,
          MIGRATION_POLICY,
          MIGRATION_POLICY_PARAMETER,
          MIGRATION_PIN_TOPICS,
          MIGRATION_EXCLUDE_TOPICS);

  private StrataKeys() {}

  /** All keys of the local tiers, in the order of the reference page. */
  public static List<StrataKey<?>> all() {
    return ALL;
  }

  /**
   * The key of that name, of the local tiers or of the remote one; a key with a placeholder for
   * each name that fits it.
   */
  public static Optional<StrataKey<?>> find(String name) {
    for (StrataKey<?> key : ALL) {
      if (key.matches(name)) {
        return Optional.of(key);
      }
    }
    return RemoteKeys.find(name);
  }

  /**
   * The names that {@code kafka-configs.sh} may change on a live broker, those with a placeholder
   * written out.
   *
   * @param tiers the names of the tiers
   * @param policyParameters the parameters of all policies
   */
  public static Set<String> dynamicNames(List<String> tiers, Set<String> policyParameters) {
    Set<String> names = new LinkedHashSet<>();
    for (StrataKey<?> key : ALL) {
      if (!key.dynamic()) {
        continue;
      }
      if (!key.patterned()) {
        names.add(key.name());
      } else {
        (key == MIGRATION_POLICY_PARAMETER ? policyParameters : tiers)
            .forEach(part -> names.add(key.with(part).name()));
      }
    }
    return names;
  }

  /** The known key that is most like {@code name}. */
  static StrataKey<?> nearest(String name) {
    return Stream.concat(ALL.stream(), RemoteKeys.all().stream())
        .min(Comparator.comparingInt(key -> distance(name, key.name())))
        .orElseThrow();
  }

  /** Levenshtein's distance: the least number of inserted, deleted and replaced characters. */
  static int distance(String a, String b) {
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
