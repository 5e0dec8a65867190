package io.strata.kafka.config;

import io.strata.kafka.memory.MemoryType;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The catalogue of the {@code strata.*} keys: each is declared here, once, and nowhere else. The
 * page {@code docs/reference/configuration.md} is generated from it.
 *
 * <p>Immutable and safe for use by any thread.
 */
public final class StrataKeys {

  /** What every key begins with. */
  public static final String PREFIX = "strata.";

  /** {@code strata.pools}. */
  public static final StrataKey<List<Path>> POOLS =
      StrataKey.named("strata.pools", "list of files", Values::parseFiles)
          .expected("a comma-separated list of pool files, each once")
          .documentation(
              "The pool files of the hot tier. Create each with `strata pool create`. A segment"
                  + " lies wholly in one pool; new segments go to the pool with the most free"
                  + " room. A pool that holds segments must stay in the list: take it out after"
                  + " `strata drain`. Relative names are resolved against the working directory of"
                  + " the broker.")
          .build();

  /** {@code strata.pool.type}. */
  public static final StrataKey<MemoryType> POOL_TYPE =
      StrataKey.named("strata.pool.type", "name", Values::parseMemoryType)
          .defaultValue("mapped")
          .expected("one of " + names(MemoryType.values(), MemoryType::configName))
          .documentation(
              "How the pools are reached. `mapped`: a shared mapping by the JDK alone, durable"
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
              "Whether the broker refuses to start when a pool does not survive a power cut,"
                  + " because its file system is not DAX or its type is `file`.")
          .build();

  /** {@code strata.spill.force}. */
  public static final StrataKey<SpillForce> SPILL_FORCE =
      StrataKey.named("strata.spill.force", "name", Values::parseSpillForce)
          .defaultValue("auto")
          .expected("one of " + names(SpillForce.values(), SpillForce::configName))
          .documentation(
              "Whether an append that goes home, because the pool is full, is forced to the medium"
                  + " before it is acknowledged. `auto`: when the segment's pool survives a power"
                  + " cut, so that a full pool does not lower what an acknowledgement means."
                  + " `never`: as a stock broker, when Kafka flushes.")
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

  private static final List<StrataKey<?>> ALL =
      List.of(
          POOLS,
          POOL_TYPE,
          POOL_PREFAULT,
          TOPICS_INCLUDE,
          TOPICS_EXCLUDE,
          REQUIRE_DAX,
          SPILL_FORCE,
          HOME_MTIME_INTERVAL_MS);

  private StrataKeys() {}

  /** All keys, in the order of the reference page. */
  public static List<StrataKey<?>> all() {
    return ALL;
  }

  /** The key of that name. */
  public static Optional<StrataKey<?>> find(String name) {
    return ALL.stream().<StrataKey<?>>map(key -> key).filter(k -> k.name().equals(name)).findAny();
  }

  /** The known key that is most like {@code name}. */
  static StrataKey<?> nearest(String name) {
    return ALL.stream()
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

  private static <E> String names(E[] values, java.util.function.Function<E, String> name) {
    return Arrays.stream(values).map(name).collect(Collectors.joining(", "));
  }
}
