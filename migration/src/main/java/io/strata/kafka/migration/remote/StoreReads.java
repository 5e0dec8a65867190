package io.strata.kafka.migration.remote;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.strata.kafka.migration.remote.SegmentStream.FetchTime;
import io.strata.kafka.migration.remote.store.CopyLookup.Copies;
import io.strata.kafka.migration.remote.store.LogReads;
import io.strata.kafka.migration.remote.store.LogReads.IndexMissingException;
import io.strata.kafka.migration.remote.store.LogReads.ReadTarget;
import io.strata.kafka.migration.remote.store.SegmentStore;
import io.strata.kafka.migration.remote.store.SegmentStore.Located;
import io.strata.kafka.migration.remote.store.disk.Deadlines;
import io.strata.kafka.migration.remote.store.disk.Deadlines.TimeLimitException;
import io.strata.kafka.migration.remote.store.layout.ChunkChecksums.CorruptChunkException;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds segments and reads their bytes, from another copy where one is wrong or cannot be read. A
 * segment may be moved at any moment.
 */
final class StoreReads {

  /**
   * Bytes of manifests: some tens of thousands of small segments, or some hundreds of large ones.
   */
  private static final long PLACES_BYTES = 16 << 20;

  private static final int PLACE_OVERHEAD = 1024;

  /** A segment that is read all the time is looked for again: a faster level may have it by now. */
  private static final Duration PLACE_LASTS = Duration.ofMinutes(1);

  /** Bytes of chunks of which a part was read: some tens of partitions that are read at once. */
  private static final long MOST_KEPT = 16 << 20;

  private static final Duration KEPT_IDLE = Duration.ofSeconds(30);

  private static final long MOST_AHEAD = 4 << 20;

  /** Segments that are read at once. */
  private static final long MOST_FETCHED = 10_000;

  private static final Logger LOG = LoggerFactory.getLogger("io.strata.kafka.migration.remote");

  private final SegmentStore store;
  private final Deadlines calls;
  private final RemoteMeters meters;
  private final ColdPieces cold;
  private final LogReads logs = new LogReads();
  private final RemoteEnvironment environment;
  private final Outages outages;

  /** Counts how often a copy was damaged or could not be read, and another one was read instead. */
  private final LongAdder replaced = new LongAdder();

  /** The end of each segment's last fetch, by the segment's id. */
  private final Cache<String, Long> fetched =
      Caffeine.newBuilder().maximumSize(MOST_FETCHED).executor(Runnable::run).build();

  /** Chunks of which a fetch has read a part: the next one goes on there. */
  private final Cache<ChunkName, Kept> chunks =
      Caffeine.newBuilder()
          .maximumWeight(Math.min(MOST_KEPT, Runtime.getRuntime().maxMemory() / 64))
          .weigher((ChunkName name, Kept kept) -> kept.bytes.length)
          .expireAfterAccess(KEPT_IDLE)
          .executor(Runnable::run)
          .build();

  /** Where each segment was when it was last looked for, by its id. */
  private final Cache<String, Located> places =
      Caffeine.newBuilder()
          .maximumWeight(PLACES_BYTES)
          .weigher(
              (String id, Located place) ->
                  PLACE_OVERHEAD + Integer.BYTES * place.manifest().chunks().chunks())
          .expireAfterWrite(PLACE_LASTS)
          // Its upkeep is done by the threads that use it: no thread of its own.
          .executor(Runnable::run)
          .build();

  /**
   * Creates the reads of a store.
   *
   * @param calls makes the calls that look at several directories; stays open
   * @param outages is notified of what was read
   */
  StoreReads(
      SegmentStore store,
      Deadlines calls,
      RemoteMeters meters,
      ColdPieces cold,
      RemoteEnvironment environment,
      Outages outages) {
    this.store = store;
    this.outages = outages;
    this.environment = environment;
    this.calls = calls;
    this.meters = meters;
    this.cold = cold;
  }

  /** Names a segment in messages: the topic, the partition, the offsets, and the path. */
  static String describe(Located place) {
    SegmentKey key = place.key();
    long end = place.manifest().segment().endOffset();
    return "%s-%d, offsets %d to %d, %s"
        .formatted(key.topic(), key.partition(), key.startOffset(), end, place.path());
  }

  /** Returns where a segment was when it was last looked for. Does no I/O. */
  Optional<Located> known(SegmentKey key) {
    return Optional.ofNullable(places.getIfPresent(key.id()))
        .filter(place -> place.key().equals(key));
  }

  /**
   * Finds a segment.
   *
   * @throws SegmentMissingException if it is not in the store
   */
  Located locate(SegmentKey key) throws IOException {
    Optional<Located> known = known(key);
    if (known.isPresent()) {
      return known.get();
    }
    Located found = store.lookup.locate(key).orElseThrow(() -> missing(key));
    places.put(key.id(), found);
    return found;
  }

  private SegmentMissingException missing(SegmentKey key) {
    return new SegmentMissingException(key + " is in no directory of the store: " + directories());
  }

  /**
   * Reads a segment from another copy from now on, which had right what was wrong, or could not be
   * read, in the one before. Marks the one before as damaged if it is. A copy that is not there any
   * more has moved or was evicted, which is no fault and does not count.
   */
  private void replaced(Located before, Located by, boolean ofLog, IOException why) {
    places.put(by.key().id(), by);
    if (before.path().equals(by.path()) && before.hasLog() == by.hasLog()) {
      return; // It was a fault that has passed, or another reader has been faster.
    }
    if (why instanceof NoSuchFileException) {
      return;
    }
    replaced.increment();
    LOG.warn(
        "Remote store: {} is read from {} from now on: {}",
        by.key(),
        by.hasLog() ? by.path() : "the cold manager",
        why.getMessage());
    failed(before, ofLog, why);
  }

  /**
   * Marks a copy as damaged if that is why it could not be read, for the health and the scrub. A
   * copy without the log is not damaged if the cold manager's bytes are.
   */
  private void failed(Located copy, boolean ofLog, IOException why) {
    if (why instanceof CorruptChunkException && (copy.hasLog() || !ofLog)) {
      store.lookup.damaged(copy.directory(), copy.key(), String.valueOf(why.getMessage()));
    }
  }

  /** Counts the reads from another copy than the first, which was damaged or could not be read. */
  long replaced() {
    return replaced.sum();
  }

  /** Forgets where a segment was. */
  void forget(String id) {
    places.invalidate(id);
  }

  String directories() {
    return String.join(", ", store.directories().stream().map(Object::toString).toList());
  }

  /**
   * Fills a target with a segment's bytes, each of them checked.
   *
   * @param position of the target's first byte; all of its bytes are the segment's
   * @param time of the fetch; a read has begun
   * @return the copy that was read
   * @throws CorruptChunkException if the bytes are wrong in each copy that there is time to read,
   *     and no directory that may have one is away
   */
  Located read(Located place, long position, ReadTarget target, FetchTime time)
      throws IOException, InterruptedException {
    Duration unused = time.left(place);
    Reading<Located> reading = copy -> readFrom(copy, position, target, time);
    try {
      return reading.from(place);
    } catch (ClosedByInterruptException e) {
      throw e;
    } catch (IOException e) {
      if (time.isOver()) {
        throw e instanceof TimeLimitException ? time.late(place) : e;
      }
      return calls.call(
          "reading " + describe(place),
          time.left(place),
          control -> elsewhere(place, true, e, control, reading));
    }
  }

  private record ChunkName(String id, int chunk) {}

  /** The end of a chunk, checked, from a byte of the segment on. */
  static final class Kept {

    static final Kept NOTHING = new Kept(0, new byte[0]);

    private final long at;
    private final byte[] bytes;

    /** A stream of bytes that nothing changes any more. */
    Kept(long at, byte[] bytes) {
      this.at = at;
      this.bytes = bytes;
    }

    /** Copies bytes from a position on; returns how many. */
    int copy(long position, byte[] target, int offset, int most) {
      int from = (int) (position - at);
      int count = Math.min(most, bytes.length - from);
      System.arraycopy(bytes, from, target, offset, count);
      return count;
    }

    long end() {
      return at + bytes.length;
    }

    boolean has(long position) {
      return position >= at && position < end();
    }
  }

  /** Keeps the end of a chunk for the next fetch. */
  void keep(Located place, Kept kept) {
    chunks.put(chunkAt(place, kept.at), kept);
  }

  /**
   * Returns what was kept of the chunk that has a byte; what does not have the byte, if nothing.
   * Nothing during an outage, which has to learn from each read what is away and what is not.
   */
  Kept kept(Located place, long position) {
    if (outages.isOut()) {
      return Kept.NOTHING;
    }
    Kept found = chunks.getIfPresent(chunkAt(place, position));
    return found == null ? Kept.NOTHING : found;
  }

  private static ChunkName chunkAt(Located place, long position) {
    return new ChunkName(
        place.key().id(), (int) (position / place.manifest().chunks().chunkBytes()));
  }

  /**
   * Asks the kernel for the bytes of the next fetch, if this one followed another. No thread waits,
   * and a failure is left to that fetch. The kernel's own read-ahead ends with each fetch, which
   * closes the file.
   */
  void readAhead(Located place, long start, long end) {
    Long before = fetched.asMap().put(place.key().id(), end);
    // Kafka begins a fetch with a batch, and ends it anywhere.
    boolean follows = start == 0 || (before != null && start <= before && end > before);
    if (follows && place.hasLog()) {
      Path log = place.file(ObjectType.LOG);
      long bytes = Math.min(end - start, MOST_AHEAD);
      place.directory().readAhead(() -> environment.fillPageCache(log, end, bytes));
    }
  }

  private Located readFrom(Located place, long position, ReadTarget target, FetchTime time)
      throws IOException, InterruptedException {
    if (place.hasLog()) {
      logs.read(place, position, target, time.left(place));
      meters.level(place.directory().level()).fetched().add(target.bytes());
    } else {
      cold.read(place, position, target, time);
    }
    outages.served();
    return place;
  }

  @FunctionalInterface
  private interface Reading<T> {
    T from(Located copy) throws IOException, InterruptedException;
  }

  /**
   * Reads from any copy, the same one once more included: it may have been replaced a moment ago,
   * and a fault of a bus is not one of the disk. A segment that moves between two looks is in
   * neither place: the second round finds it.
   *
   * @param ofLog whether a copy without the log reads from the cold manager, and is not damaged if
   *     that is
   */
  private <T> T elsewhere(
      Located first, boolean ofLog, IOException why, Deadlines.Control control, Reading<T> reading)
      throws IOException, InterruptedException {
    boolean moved = true;
    IOException failure = why;
    for (int round = 0; moved && round < 2; round++) {
      moved = why instanceof NoSuchFileException;
      Copies copies = copies(first, why);
      for (Located copy : copies.found()) {
        try {
          T read = reading.from(copy);
          replaced(first, copy, ofLog, why);
          return read;
        } catch (IndexMissingException e) {
          throw e;
        } catch (IOException e) {
          if (control.isCancelled()) {
            throw e;
          }
          failed(copy, ofLog, e);
          moved |= e instanceof NoSuchFileException;
          failure = heavier(failure, e);
        }
      }
      if (copies.problem().isPresent()) {
        failure = heavier(failure, copies.problem().get());
      }
    }
    throw failure;
  }

  private static IOException heavier(IOException one, IOException other) {
    IOException heavier = weight(other) > weight(one) ? other : one;
    if (one != other) {
      heavier.addSuppressed(heavier == one ? other : one);
    }
    return heavier;
  }

  /**
   * Orders why copies could not be read, by how much is left to hope for: one that is not there,
   * one that is wrong, one that may be back at any moment.
   */
  private static int weight(IOException failure) {
    if (failure instanceof NoSuchFileException) {
      return 0;
    }
    return Outages.isAway(failure) ? 2 : 1;
  }

  /** Reads an index, in a call that has a deadline; fails as {@link RemoteTier#index}. */
  byte[] index(SegmentKey key, ObjectType type, Deadlines.Control control)
      throws IOException, InterruptedException {
    Reading<byte[]> reading =
        copy ->
            copy.directory()
                .read("reading " + copy.file(type), unused -> LogReads.index(copy, type));
    Located place = locate(key);
    try {
      return reading.from(place);
    } catch (IndexMissingException | ClosedByInterruptException e) {
      throw e;
    } catch (IOException e) {
      return elsewhere(place, false, e, control, reading);
    }
  }

  /**
   * All places that have the segment now, the best first.
   *
   * @param why it is not read where it was; is thrown if it is not found elsewhere, and no
   *     directory that may have it is away
   */
  private Copies copies(Located first, IOException why) throws IOException {
    SegmentKey key = first.key();
    try {
      places.invalidate(key.id());
      Copies copies = store.lookup.copies(key);
      if (copies.found().isEmpty()) {
        throw missing(key);
      }
      return copies;
    } catch (IOException e) {
      throw heavier(why, e);
    }
  }

  /** A segment is not in the store: the message says where it was looked for, and who wrote it. */
  static final class SegmentMissingException extends IOException {
    private static final long serialVersionUID = 1L;

    SegmentMissingException(String message) {
      super(message);
    }
  }
}
