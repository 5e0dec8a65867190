package io.strata.kafka.config;

import io.strata.kafka.migration.MigrationSettings;
import io.strata.kafka.migration.PolicyRegistry;
import io.strata.kafka.migration.remote.RemoteSettings;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Those keys of the remote tier that can be changed on a live broker: read, and written again; and
 * what is settled without a key.
 *
 * <p>Thread safety: stateless.
 */
final class RemoteLiveKeys {

  /** The longest that the read of an index may take. */
  private static final Duration INDEX_TIMEOUT = Duration.ofSeconds(30);

  /** The longest that the deletion of a segment may take. */
  private static final Duration DELETE_TIMEOUT = Duration.ofMinutes(1);

  /**
   * How often the directories are listed, which is how a broker learns what others have copied,
   * moved and deleted. What a fetch does not find is looked for at once.
   */
  private static final Duration INVENTORY_INTERVAL = Duration.ofMinutes(1);

  /**
   * How old what a failed copy has left must be before it is removed. Where a copy may take longer,
   * its time limit counts.
   */
  private static final Duration ORPHAN_AGE = Duration.ofHours(1);

  private RemoteLiveKeys() {}

  /**
   * The settings; empty if there is a problem, which the reader then has.
   *
   * @param levels the names of the levels that have a threshold, fastest first
   */
  static Optional<RemoteSettings.Live> read(KeyReader reader, List<String> levels) {
    int before = reader.problems().size();
    Optional<Long> copy = reader.read(RemoteKeys.COPY_TIMEOUT_MS);
    Optional<Long> fetch = reader.read(RemoteKeys.FETCH_TIMEOUT_MS);
    Optional<Long> scrub = reader.read(RemoteKeys.SCRUB_INTERVAL_MS);
    Optional<MigrationSettings> migration = MigrationKeys.REMOTE.read(reader, levels);
    if (reader.problems().size() > before) {
      return Optional.empty();
    }
    return Optional.of(
        new RemoteSettings.Live(
            Duration.ofMillis(copy.orElseThrow()),
            Duration.ofMillis(fetch.orElseThrow()),
            INDEX_TIMEOUT,
            DELETE_TIMEOUT,
            INVENTORY_INTERVAL,
            Duration.ofMillis(scrub.orElseThrow()),
            ORPHAN_AGE,
            migration.orElseThrow()));
  }

  /** The same with the parameters of the chosen policy alone. */
  static RemoteSettings.Live ofChosenPolicy(RemoteSettings.Live live, PolicyRegistry policies) {
    return live.with(PolicyChecks.ofChosenPolicy(live.migration(), policies));
  }

  /** Settings as the keys would be written in a file. */
  static Map<String, String> written(RemoteSettings.Live live, List<String> levels) {
    Map<String, String> keys = new LinkedHashMap<>();
    keys.put(RemoteKeys.COPY_TIMEOUT_MS.name(), millis(live.copyTimeout()));
    keys.put(RemoteKeys.FETCH_TIMEOUT_MS.name(), millis(live.fetchTimeout()));
    keys.put(RemoteKeys.SCRUB_INTERVAL_MS.name(), millis(live.scrubInterval()));
    keys.putAll(MigrationKeys.REMOTE.written(live.migration(), levels));
    return keys;
  }

  private static String millis(Duration duration) {
    return String.valueOf(duration.toMillis());
  }
}
