package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.Reads;
import io.strata.kafka.migration.remote.RemoteMeters.RetriedFailures;
import io.strata.kafka.migration.remote.SegmentStream.FetchTime;
import io.strata.kafka.migration.remote.store.LogReads.IndexMissingException;
import io.strata.kafka.migration.remote.store.SegmentStore;
import io.strata.kafka.migration.remote.store.SegmentStore.Located;
import io.strata.kafka.migration.remote.store.SegmentStore.LogSource;
import io.strata.kafka.migration.remote.store.disk.BytePace;
import io.strata.kafka.migration.remote.store.disk.Deadlines;
import io.strata.kafka.migration.remote.store.disk.Deadlines.TimeLimitException;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * The remote tier of one broker: the store, with deadlines and limits. It does here, in our own
 * words, what Kafka asks for.
 */
final class RemoteTier implements AutoCloseable {

  /** Kafka copies with ten threads by default. */
  private static final int COPY_CALLS = 16;

  /**
   * For each directory: so many reads may hang in one of them before it is suspended, and others
   * must stay readable. Kafka reads with ten threads by default.
   */
  private static final int READ_CALLS = 32;

  private static final int DELETE_CALLS = 8;

  /** The time that a few bytes in the broker's log directories may take. */
  private static final Duration NOTING = Duration.ofSeconds(5);

  private static final int NOTE_CALLS = 2;

  private final RemoteSettings settings;
  private final LongSupplier nanoTime;
  private final SegmentStore store;
  private final Optional<ColdManager> manager;
  private final RemoteMeters meters;
  private final StoreReads reads;
  private final ColdPieces pieces;
  private final Deadlines copies;
  private final Deadlines fetches;
  private final Deadlines deletions;

  /** Apart: it is while all deletions hang that one is to be noted. */
  private final Deadlines notes;

  private final Outages outages;
  private final Housekeeping housekeeping;
  private volatile RemoteSettings.Live live;

  /**
   * Over an open store; starts its housekeeping.
   *
   * @param manager of the cold level, for what the store does not ask of it; is closed with this
   */
  RemoteTier(
      RemoteSettings settings,
      RemoteEnvironment environment,
      SegmentStore store,
      Optional<ColdManager> manager) {
    this.settings = settings;
    this.store = store;
    this.manager = manager;
    this.live = settings.live();
    EngineEnvironment engine = environment.engine();
    this.nanoTime = engine.nanoTime();
    copies = new Deadlines("strata-remote-copy", COPY_CALLS, engine.threads());
    fetches =
        new Deadlines(
            "strata-remote-fetch", READ_CALLS * store.directories().size(), engine.threads());
    deletions = new Deadlines("strata-remote-delete", DELETE_CALLS, engine.threads());
    notes = new Deadlines("strata-remote-note", NOTE_CALLS, engine.threads());
    meters =
        new RemoteMeters(
            engine.nanoTime(),
            settings.levels().size(),
            new RetriedFailures(engine.nanoTime(), StrataRemoteStorageManager::log));
    outages =
        new Outages(
            environment.reads(),
            engine,
            message ->
                StrataRemoteStorageManager.log("Remote store: " + message, Optional.empty()));
    pieces =
        new ColdPieces(store, meters.cold().fetched(), ColdPieces.mostInHeap(), engine.threads());
    reads = new StoreReads(store, fetches, meters, pieces, environment, outages);
    housekeeping = new Housekeeping(settings, environment, store);
    housekeeping.start();
  }

  void reconfigure(RemoteSettings.Live changed) {
    housekeeping.reconfigure(changed);
    manager.ifPresent(cold -> cold.reconfigure(changed));
    live = changed;
  }

  RemoteMeters.Run begin(RemoteStats.Operation operation, String what) {
    return meters.begin(operation, what);
  }

  Outages outages() {
    return outages;
  }

  /** Notes that bytes of a segment were read. */
  void read(SegmentKey key, long bytes) {
    long now = store.clock().millis();
    store.reads().computeIfAbsent(key.id(), id -> new Reads(now)).add(bytes, now);
  }

  /**
   * Copies a segment; it is durable and can be seen when this returns. Here and below {@code what}
   * is for messages.
   */
  void copy(String what, SegmentInfo segment, LogSource source)
      throws IOException, InterruptedException {
    SegmentStore.Copied copied;
    try {
      copied =
          copies.callInTurn(
              "copying " + what + " to the remote store",
              live.copyTimeout(),
              copying(segment, source));
    } finally {
      housekeeping.copyEnded();
    }
    meters.level(copied.directory().level()).copied().add(copied.manifest().totalBytes());
  }

  /** Copies a segment for Kafka; if Kafka has given it up meanwhile, it is deleted. */
  private Deadlines.Work<SegmentStore.Copied> copying(SegmentInfo segment, LogSource source) {
    return new Deadlines.Work<>() {
      @Override
      public SegmentStore.Copied run(Deadlines.Control control)
          throws IOException, InterruptedException {
        housekeeping.awaitFirstInventory();
        return store.copy(segment, source, settings.chunkBytes(), BytePace.unlimited(control));
      }

      @Override
      public void undo(SegmentStore.Copied copied) {
        try {
          Map<StoreDirectory, Long> unused = store.delete(segment);
        } catch (IOException e) {
          StrataRemoteStorageManager.log(
              "%s was copied too late, and cannot be removed: %s"
                  .formatted(segment.key(), RemoteFailures.describe(e)),
              Optional.empty());
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt(); // The broker stops.
        }
      }
    };
  }

  /**
   * Opens a range of a segment. The segment is looked up now; its bytes are read when they are
   * asked for.
   *
   * @param endInclusive the last byte; the segment's end, if that comes first
   */
  InputStream open(String what, SegmentKey key, long start, long endInclusive)
      throws IOException, InterruptedException {
    if (start < 0 || endInclusive < start) {
      throw new IllegalArgumentException(
          "%s: found a range from byte %d to %d, expected a start from 0 and an end not before it"
              .formatted(what, start, endInclusive));
    }
    if (Thread.interrupted()) {
      throw new InterruptedException("before " + what + " was looked for");
    }
    FetchTime time = new FetchTime(live.fetchTimeout(), nanoTime);
    Optional<Located> known = reads.known(key);
    Located located = known.isPresent() ? known.get() : find(what, key, time);
    long bytes = located.manifest().segment().bytes();
    if (start > bytes) {
      throw new IllegalArgumentException(
          "%s: found start position %d, expected one in the segment's %d bytes or its end"
              .formatted(located.path(), start, bytes));
    }
    long end = Math.min(endInclusive, bytes - 1) + 1;
    return new SegmentStream(reads, time, located, start, end);
  }

  private Located find(String what, SegmentKey key, FetchTime time)
      throws IOException, InterruptedException {
    time.begin();
    try {
      return fetches.call("finding " + what, live.fetchTimeout(), control -> reads.locate(key));
    } finally {
      time.end();
    }
  }

  /**
   * Reads an index.
   *
   * @throws IndexMissingException if it was copied without such an index
   */
  byte[] index(String what, SegmentKey key, ObjectType type)
      throws IOException, InterruptedException {
    byte[] index =
        fetches.call(
            "reading an index of " + what,
            live.fetchTimeout(),
            control -> reads.index(key, type, control));
    outages.served();
    return index;
  }

  /**
   * Deletes a segment. When this returns it is gone, or the store has taken over to delete the rest
   * later.
   *
   * @return the bytes that were removed from the directories
   */
  long delete(String what, SegmentInfo segment) throws IOException, InterruptedException {
    Map<StoreDirectory, Long> removed = Map.of();
    try {
      removed =
          deletions.call(
              "deleting " + what + " from the remote store",
              live.deleteTimeout(),
              control -> store.delete(segment));
    } catch (TimeLimitException e) {
      if (!isNoted(what, segment)) {
        throw e;
      }
    } catch (InterruptedException e) {
      // Kafka may not ask again.
      boolean unused = isNoted(what, segment);
      throw e;
    }
    reads.forget(segment.key().id());
    removed.forEach((directory, bytes) -> meters.level(directory.level()).deleted().add(bytes));
    return removed.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Returns whether the store has taken over to delete a segment; a log directory may hang too. */
  private boolean isNoted(String what, SegmentInfo segment)
      throws IOException, InterruptedException {
    try {
      return notes.call(
          "noting that " + what + " is to be deleted",
          NOTING,
          control -> store.deletions.add(segment));
    } catch (TimeLimitException e) {
      return false;
    }
  }

  String describeStore() {
    return "store " + store.storeId() + " in " + reads.directories();
  }

  RemoteStats stats() {
    return housekeeping.stats(
        meters,
        copies.stuck() + fetches.stuck() + deletions.stuck() + notes.stuck(),
        reads.replaced(),
        manager.map(ColdManager::hanging));
  }

  @Override
  public void close() {
    outages.close();
    housekeeping.close();
    copies.close();
    pieces.close();
    fetches.close();
    deletions.close();
    notes.close();
    store.close();
    manager.ifPresent(ColdManager::closeOrWarn);
  }
}
