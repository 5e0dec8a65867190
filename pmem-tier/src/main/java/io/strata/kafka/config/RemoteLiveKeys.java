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
 * Those keys of the remote tier that can be changed on a live broker: read, and written again.
 *
 * <p>Thread safety: stateless.
 */
final class RemoteLiveKeys {
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
    Optional<Long> index = reader.read(RemoteKeys.INDEX_TIMEOUT_MS);
    Optional<Long> delete = reader.read(RemoteKeys.DELETE_TIMEOUT_MS);
    Optional<Long> rateCopy = reader.read(RemoteKeys.RATE_COPY);
    Optional<Long> rateFetch = reader.read(RemoteKeys.RATE_FETCH);
    Optional<Long> rateScrub = reader.read(RemoteKeys.RATE_SCRUB);
    Optional<Long> readAhead = reader.read(RemoteKeys.READAHEAD_CHUNKS);
    Optional<Long> census = reader.read(RemoteKeys.CENSUS_INTERVAL_MS);
    Optional<Long> scrub = reader.read(RemoteKeys.SCRUB_INTERVAL_MS);
    Optional<Long> orphanAge = reader.read(RemoteKeys.ORPHAN_AGE_MS);
    Optional<MigrationSettings> migration = MigrationKeys.REMOTE.read(reader, levels);
    if (copy.isPresent() && orphanAge.isPresent() && orphanAge.get() < copy.get()) {
      reader.refuse(
          RemoteKeys.ORPHAN_AGE_MS.name(),
          "'" + orphanAge.get() + "'",
          "no less than " + RemoteKeys.COPY_TIMEOUT_MS.name() + ", which is " + copy.get(),
          "raise it, or lower the other: what a copy under way has written is no orphan");
    }
    if (reader.problems().size() > before) {
      return Optional.empty();
    }
    return Optional.of(
        new RemoteSettings.Live(
            Duration.ofMillis(copy.orElseThrow()),
            Duration.ofMillis(fetch.orElseThrow()),
            Duration.ofMillis(index.orElseThrow()),
            Duration.ofMillis(delete.orElseThrow()),
            rateCopy.orElseThrow(),
            rateFetch.orElseThrow(),
            Math.toIntExact(readAhead.orElseThrow()),
            Duration.ofMillis(census.orElseThrow()),
            Duration.ofMillis(scrub.orElseThrow()),
            rateScrub.orElseThrow(),
            Duration.ofMillis(orphanAge.orElseThrow()),
            migration.orElseThrow()));
  }

  /** The same with the parameters of the chosen policy alone. */
  static RemoteSettings.Live ofChosenPolicy(RemoteSettings.Live live, PolicyRegistry policies) {
    return new RemoteSettings.Live(
        live.copyTimeout(),
        live.fetchTimeout(),
        live.indexTimeout(),
        live.deleteTimeout(),
        live.copyBytesPerSecond(),
        live.fetchBytesPerSecond(),
        live.readAheadChunks(),
        live.censusInterval(),
        live.scrubInterval(),
        live.scrubBytesPerSecond(),
        live.orphanAge(),
        PolicyChecks.ofChosenPolicy(live.migration(), policies));
  }

  /** Settings as the keys would be written in a file. */
  static Map<String, String> written(RemoteSettings.Live live, List<String> levels) {
    Map<String, String> keys = new LinkedHashMap<>();
    keys.put(RemoteKeys.COPY_TIMEOUT_MS.name(), millis(live.copyTimeout()));
    keys.put(RemoteKeys.FETCH_TIMEOUT_MS.name(), millis(live.fetchTimeout()));
    keys.put(RemoteKeys.INDEX_TIMEOUT_MS.name(), millis(live.indexTimeout()));
    keys.put(RemoteKeys.DELETE_TIMEOUT_MS.name(), millis(live.deleteTimeout()));
    keys.put(RemoteKeys.RATE_COPY.name(), String.valueOf(live.copyBytesPerSecond()));
    keys.put(RemoteKeys.RATE_FETCH.name(), String.valueOf(live.fetchBytesPerSecond()));
    keys.put(RemoteKeys.RATE_SCRUB.name(), String.valueOf(live.scrubBytesPerSecond()));
    keys.put(RemoteKeys.READAHEAD_CHUNKS.name(), String.valueOf(live.readAheadChunks()));
    keys.put(RemoteKeys.CENSUS_INTERVAL_MS.name(), millis(live.censusInterval()));
    keys.put(RemoteKeys.SCRUB_INTERVAL_MS.name(), millis(live.scrubInterval()));
    keys.put(RemoteKeys.ORPHAN_AGE_MS.name(), millis(live.orphanAge()));
    keys.putAll(MigrationKeys.REMOTE.written(live.migration(), levels));
    return keys;
  }

  private static String millis(Duration duration) {
    return String.valueOf(duration.toMillis());
  }
}
