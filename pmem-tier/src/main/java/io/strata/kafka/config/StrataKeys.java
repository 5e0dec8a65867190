package io.strata.kafka.config;

import io.strata.kafka.config.StrataConfig.AckDurability;
import io.strata.kafka.config.StrataConfig.SpillForce;
import io.strata.kafka.config.key.NearNames;
import io.strata.kafka.config.key.StrataKey;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The keys of the local tiers, and all keys. Each key is declared once: here, in {@link
 * RemoteKeys}, or, where both tiers have it with prefixes of their own, in {@link MigrationKeys}.
 * The page {@code docs/reference/configuration.md} is generated from them.
 */
public final class StrataKeys {

  /** The prefix of every key, except those that Kafka hands to the manager of the remote tier. */
  public static final String PREFIX = "strata.";

  /** The tier that {@code strata.pools} is short for. */
  static final String ONE_TIER = "hot";

  public static final StrataKey<List<String>> TIERS =
      StrataKey.named("strata.tiers", "list of names", Values::parseTiers)
          .otherwise("one tier, `hot`, with the pools of `strata.pools`")
          .expected(
              """
              a comma-separated list of names, each once: lower-case letters, digits and hyphens, \
              a letter first, 32 characters at most, and not logdirs\
              """)
          .documentation(
              """
              The tiers above Kafka's log directories, fastest first. Each has its own pools \
              (`strata.tier.<name>.pools`). The log directories are always the last tier. It is \
              called `logdirs` and is not listed.\
              """);

  public static final StrataKey<List<Path>> POOLS =
      StrataKey.named("strata.pools", "list of files", Values::parseFiles)
          .otherwise("none: required, unless `strata.tiers` is set")
          .expected("a comma-separated list of pool files, absolute paths, each once")
          .documentation(
              """
              The pool files where there is one tier: short for `strata.tiers=hot` and \
              `strata.tier.hot.pools`. A segment lies wholly in one pool; new segments go to the \
              pool with the most space, clean segments included. A pool that holds segments must \
              stay in the list: take it out after `strata drain`. The paths are absolute: commands and the \
              broker have working directories of their own.\
              """);

  public static final StrataKey<Long> POOL_CREATE =
      StrataKey.named("strata.pool.create", "bytes", Values::parsePoolSize)
          .otherwise("none: a missing pool keeps the broker from starting")
          .expected("an amount of at least 4MiB, for example 64GiB")
          .documentation(
              """
              The size of a pool that the broker creates when it starts and the pool is missing. \
              The broker creates one only if no record can be lost with it: every log directory is \
              present, and none refers to a pool that is missing. Otherwise it does not start. The \
              size of a pool that is present does not change; see `strata pool grow`.\
              """);

  public static final StrataKey<PoolType> POOL_TYPE =
      StrataKey.named("strata.pool.type", PoolType.KIND)
          .defaultValue("auto")
          .documentation(
              """
              How the pools are reached, where `strata.tier.<name>.type` says nothing else. \
              `auto`: what fits the file system of each pool's file: `pmem` on DAX (`mapped` \
              where libpmem is not installed), `file` on any other; not on tmpfs. The broker's log \
              names the type of each pool. `mapped`: a shared mapping by the JDK alone, durable \
              across a power failure on a DAX file system. `pmem`: libpmem, for Linux on x86-64 \
              with the native libraries installed. `file`: a file on NVMe or SSD, durable when \
              Kafka flushes. The broker refuses to start with a pool on tmpfs, which a restart of \
              the machine empties, unless its type is `mapped`: for trials and tests.\
              """);

  public static final StrataKey<List<Path>> TIER_POOLS =
      StrataKey.named("strata.tier.<name>.pools", "list of files", Values::parseFiles)
          .otherwise("none: required for each tier that `strata.tiers` lists")
          .expected(
              "a comma-separated list of pool files, absolute paths, each once, in one tier only")
          .documentation(
              """
              The pool files of one tier, several if it has several devices (one per socket, for \
              example). See `strata.pools`.\
              """);

  public static final StrataKey<PoolType> TIER_TYPE =
      StrataKey.named("strata.tier.<name>.type", PoolType.KIND)
          .otherwise("the value of `strata.pool.type`")
          .documentation("How the pools of one tier are reached. See `strata.pool.type`.");

  public static final StrataKey<List<String>> TOPICS_INCLUDE =
      StrataKey.named("strata.topics.include", Values.EXPRESSIONS)
          .defaultValue(".*")
          .live()
          .documentation(
              """
              Topics whose new segments may be placed in a pool: those whose whole name matches \
              one of the expressions. A comma inside braces, brackets or parentheses, or after a \
              backslash, belongs to its expression. `__cluster_metadata` and \
              `__remote_log_metadata` are never placed, and cannot be asked for. Segments in a \
              pool whose topic is no longer included leave it.\
              """);

  public static final StrataKey<List<String>> TOPICS_EXCLUDE =
      StrataKey.named("strata.topics.exclude", Values.EXPRESSIONS)
          .defaultValue("")
          .live()
          .documentation(
              """
              Topics whose segments are never placed in a pool, though `strata.topics.include` \
              matches. Those that are in a pool already leave it, but for the last extent of \
              active ones, and do not come back. A topic that is pinned too is excluded.\
              """);

  public static final StrataKey<Boolean> REQUIRE_DAX =
      StrataKey.named("strata.require.dax", Values.BOOLEAN)
          .defaultValue("false")
          .documentation(
              """
              Whether the broker refuses to start when a pool of the first tier does not survive \
              a power failure, because its file system is not DAX or its type is `file`.\
              """);

  public static final StrataKey<AckDurability> DURABILITY =
      StrataKey.named(
              "strata.durability",
              Values.oneOf(List.of(AckDurability.values()), AckDurability::configName))
          .defaultValue("pool")
          .documentation(
              """
              What a power failure leaves of acknowledged records. `pool`: all of them where the \
              pool is on DAX; elsewhere what Kafka has flushed or replicated, as with a stock \
              broker. `ack`: all of them, but for topics that are excluded from the pools. Each \
              append is then forced to the medium before it is acknowledged. `ack` needs pools on \
              a device: the broker refuses to start with one on a memory-backed file system.\
              """);

  public static final StrataKey<SpillForce> SPILL_FORCE =
      StrataKey.named(
              "strata.spill.force",
              Values.oneOf(List.of(SpillForce.values()), SpillForce::configName))
          .defaultValue("auto")
          .live()
          .documentation(
              """
              Whether an append that goes to the log file or to a lower tier, because the first \
              tier is full, is forced to the medium before it is acknowledged. `auto`: when the \
              first tier's pools survive a power failure, so that a full tier does not lower what \
              an acknowledgement means; appends then go on at the rate of forced writes of the \
              log directory's disk. `never`: as a stock broker, when Kafka flushes, at the disk's \
              unforced rate, and once before the partition's next segment begins in a pool; a \
              power failure may then take what a full tier has acknowledged. \
              With `strata.durability=ack` every append is forced, whatever this key says.\
              """);

  /**
   * The keys of one side, the local tiers' or the remote tier's, in the order of the reference
   * page.
   *
   * @param policyParameter the one whose placeholder stands for a policy's parameter; those of the
   *     others stand for a tier or a level
   */
  public record Catalogue(List<StrataKey<?>> keys, StrataKey<?> policyParameter) {

    public Catalogue {
      keys = List.copyOf(keys);
    }

    static Catalogue of(List<StrataKey<?>> own, MigrationKeys migration) {
      return new Catalogue(
          Stream.concat(own.stream(), migration.all().stream()).toList(),
          migration.policyParameter());
    }

    /** The key of that name; one with a placeholder for each name that fits it. */
    public Optional<StrataKey<?>> find(String name) {
      for (StrataKey<?> key : keys) {
        if (key.matches(name)) {
          return Optional.of(key);
        }
      }
      return Optional.empty();
    }

    /** The names that may change on a live broker, those with a placeholder written out. */
    public Set<String> dynamicNames(List<String> tiers, Set<String> policyParameters) {
      return names(true, tiers, policyParameters);
    }

    /** The names of the keys that need a restart, those with a placeholder written out. */
    Set<String> fixedNames(List<String> tiers) {
      return names(false, tiers, Set.of());
    }

    private Set<String> names(boolean dynamic, List<String> tiers, Set<String> policyParameters) {
      Set<String> names = new LinkedHashSet<>();
      for (StrataKey<?> key : keys) {
        if (key.dynamic() != dynamic) {
          continue;
        }
        if (!key.patterned()) {
          names.add(key.name());
        } else {
          (key.equals(policyParameter) ? policyParameters : tiers)
              .forEach(part -> names.add(key.with(part).name()));
        }
      }
      return names;
    }
  }

  /** The keys of the local tiers, in the order of the reference page. */
  public static final Catalogue LOCAL =
      Catalogue.of(
          List.of(
              TIERS,
              POOLS,
              POOL_CREATE,
              POOL_TYPE,
              TIER_POOLS,
              TIER_TYPE,
              TOPICS_INCLUDE,
              TOPICS_EXCLUDE,
              REQUIRE_DAX,
              DURABILITY,
              SPILL_FORCE),
          MigrationKeys.LOCAL);

  private StrataKeys() {}

  /** All keys, in the order of the reference page: the local tiers', then the remote one's. */
  public static List<StrataKey<?>> all() {
    return Stream.concat(LOCAL.keys().stream(), RemoteKeys.REMOTE.keys().stream()).toList();
  }

  /** The key of that name; a key with a placeholder for each name that fits it. */
  public static Optional<StrataKey<?>> find(String name) {
    return LOCAL.find(name).or(() -> RemoteKeys.REMOTE.find(name));
  }

  /**
   * Finds the known key that may be meant by {@code name}; of one with a placeholder, what it would
   * be called there. Empty if no key is near.
   */
  static Optional<String> nearest(String name) {
    List<String> parts = List.of(name.split("\\.", -1));
    return NearNames.of(name, all().stream().map(key -> key.like(parts).name()).toList()).stream()
        .findFirst();
  }
}
