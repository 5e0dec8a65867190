package io.strata.kafka.config;

import io.strata.kafka.migration.MigrationSettings;
import java.util.List;

/**
 * The part of the catalogue {@link RemoteKeys} that is about moves between the levels of the store.
 *
 * <p>Immutable and safe for use by any thread.
 */
final class RemoteMigrationKeys {

  /** {@code strata.remote.migration.threshold}. */
  static final StrataKey<Double> MIGRATION_THRESHOLD =
      StrataKey.named("strata.remote.migration.threshold", "share", Values::parseThreshold)
          .defaultValue("0.5")
          .expected("-1, or a number from 0 to 1")
          .documentation(
              "The dirty share of a level's capacity above which segments are copied to the"
                  + " next one, oldest first. Dirty are the bytes of segments that no lower level"
                  + " has. `0`: as soon as they are in the store. `-1`: never.")
          .dynamic()
          .build();

  /** {@code strata.remote.level.<name>.threshold}. */
  static final StrataKey<Double> LEVEL_THRESHOLD =
      StrataKey.named("strata.remote.level.<name>.threshold", "share", Values::parseThreshold)
          .otherwise("the value of `strata.remote.migration.threshold`")
          .expected("-1, or a number from 0 to 1")
          .documentation(
              "The threshold of one level, which must not be the lowest. See"
                  + " `strata.remote.migration.threshold`.")
          .dynamic()
          .build();

  /** {@code strata.remote.migration.mode}. */
  static final StrataKey<MigrationSettings.Mode> MIGRATION_MODE =
      StrataKey.named("strata.remote.migration.mode", "name", Values::parseMode)
          .defaultValue("eager")
          .expected(
              "one of "
                  + Values.names(
                      MigrationSettings.Mode.values(), MigrationSettings.Mode::configName))
          .documentation(
              "What becomes of a segment in a level once a lower one has it, too. `eager`:"
                  + " it stays readable in the upper one until its room is needed. `threshold`:"
                  + " it is given up at once.")
          .dynamic()
          .build();

  /** {@code strata.remote.migration.hysteresis}. */
  static final StrataKey<Double> MIGRATION_HYSTERESIS =
      StrataKey.named("strata.remote.migration.hysteresis", "share", Values.doubleBetween(0, 1))
          .defaultValue("0.05")
          .expected("a number from 0 to 1")
          .documentation("How far below its threshold a level is brought once it is above.")
          .dynamic()
          .build();

  /** {@code strata.remote.migration.promote}. */
  static final StrataKey<Boolean> MIGRATION_PROMOTE =
      StrataKey.named("strata.remote.migration.promote", "boolean", Values::parseBoolean)
          .defaultValue("true")
          .expected("true or false")
          .documentation(
              "Whether segments are copied back up when a faster level has room and the"
                  + " policy wants them there.")
          .dynamic()
          .build();

  /** {@code strata.remote.migration.threads}. */
  static final StrataKey<Long> MIGRATION_THREADS =
      StrataKey.named("strata.remote.migration.threads", "number", Values.longBetween(1, 16))
          .defaultValue("2")
          .expected("a number from 1 to 16")
          .documentation("How many segments are copied between levels at once.")
          .dynamic()
          .build();

  /** {@code strata.remote.migration.rate.down}. */
  static final StrataKey<Long> MIGRATION_RATE_DOWN =
      StrataKey.named("strata.remote.migration.rate.down", "bytes per second", Values::parseRate)
          .defaultValue("0")
          .expected("0 for no limit, or bytes per second, for example 80MB or 500MiB")
          .documentation("The most that copies to lower levels may take, all together.")
          .dynamic()
          .build();

  /** {@code strata.remote.migration.rate.up}. */
  static final StrataKey<Long> MIGRATION_RATE_UP =
      StrataKey.named("strata.remote.migration.rate.up", "bytes per second", Values::parseRate)
          .defaultValue("0")
          .expected("0 for no limit, or bytes per second, for example 80MB or 500MiB")
          .documentation("The most that copies to upper levels may take, all together.")
          .dynamic()
          .build();

  /** {@code strata.remote.migration.interval.ms}. */
  static final StrataKey<Long> MIGRATION_INTERVAL_MS =
      StrataKey.named(
              "strata.remote.migration.interval.ms",
              "milliseconds",
              Values.longBetween(100, 3_600_000))
          .defaultValue("1000")
          .expected("a number from 100 to 3600000")
          .documentation("The time between two planning rounds.")
          .dynamic()
          .build();

  /** {@code strata.remote.migration.policy}. */
  static final StrataKey<String> MIGRATION_POLICY =
      StrataKey.named("strata.remote.migration.policy", "name", Values::parsePolicy)
          .defaultValue("newest")
          .expected("the name of a policy on the broker's class path")
          .documentation(
              "Which segments move between levels: one of the policies that"
                  + " `strata.migration.policy` can name.")
          .dynamic()
          .build();

  /** {@code strata.remote.migration.policy.<parameter>}. */
  static final StrataKey<String> MIGRATION_POLICY_PARAMETER =
      StrataKey.named("strata.remote.migration.policy.<parameter>", "text", RemoteValues::parseText)
          .otherwise("the policy's own default")
          .expected("what the policy expects")
          .documentation(
              "A parameter of the policy. One of a policy that is not chosen is ignored;"
                  + " one that no policy has is refused.")
          .dynamic()
          .build();

  /** {@code strata.remote.migration.pin.topics}. */
  static final StrataKey<List<String>> MIGRATION_PIN_TOPICS =
      StrataKey.named(
              "strata.remote.migration.pin.topics",
              "list of regular expressions",
              Values::parseExpressions)
          .defaultValue("")
          .expected("a comma-separated list of regular expressions (java.util.regex)")
          .documentation(
              "Topics whose segments never leave their level, and are the first to be"
                  + " copied up: those whose whole name matches one of the expressions.")
          .dynamic()
          .build();

  /** {@code strata.remote.migration.exclude.topics}. */
  static final StrataKey<List<String>> MIGRATION_EXCLUDE_TOPICS =
      StrataKey.named(
              "strata.remote.migration.exclude.topics",
              "list of regular expressions",
              Values::parseExpressions)
          .defaultValue("")
          .expected("a comma-separated list of regular expressions (java.util.regex)")
          .documentation(
              "Topics whose segments go to the lowest level as soon as they are in the"
                  + " store, and are never copied up. A topic that is pinned, too, is excluded.")
          .dynamic()
          .build();

  static final List<StrataKey<?>> ALL =
      List.of(
          MIGRATION_THRESHOLD,
          LEVEL_THRESHOLD,
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

  private RemoteMigrationKeys() {}
}
