package io.strata.kafka.migration.remote;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.strata.kafka.migration.remote.calls.CallControl;
import io.strata.kafka.migration.remote.read.CorruptChunkException;
import io.strata.kafka.migration.remote.read.ReadBuffers;
import io.strata.kafka.migration.remote.store.KnownSegment;
import io.strata.kafka.migration.remote.store.ObjectType;
import io.strata.kafka.migration.remote.store.SegmentInfo;
import io.strata.kafka.migration.remote.store.SegmentKey;
import io.strata.kafka.migration.remote.store.SegmentMissingException;
import io.strata.kafka.migration.remote.store.SegmentStore;
import io.strata.kafka.migration.remote.store.SegmentStore.Located;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds segments and reads their bytes, without holding files open: a segment may be moved at any
 * moment.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class StoreReads {

  /** Of manifests: some tens of thousands of small segments, or some hundreds of large ones. */
  private static final long PLACES_BYTES = 16 << 20;

  private static final int PLACE_OVERHEAD = 1024;
  private static final Duration PLACE_IDLE = Duration.ofMinutes(10);

  private static final Logger LOG = LoggerFactory.getLogger("io.strata.kafka.migration.remote");

  private final SegmentStore store;
  private final LongAdder replaced = new LongAdder();
  private final LevelMeters levels;
  private final ReadBuffers buffers = new ReadBuffers();
  private final Cache<String, Located> places =
      Caffeine.newBuilder()
          .maximumWeight(PLACES_BYTES)
          .weigher(
              (String id, Located place) ->
                  PLACE_OVERHEAD + Integer.BYTES * place.manifest().chunks().chunks())
          .expireAfterAccess(PLACE_IDLE)
          // Its upkeep is done by the threads that use it: no thread of its own.
          .executor(Runnable::run)
          .build();

  StoreReads(SegmentStore store, LevelMeters levels) {
    this.store = store;
    this.levels = levels;
  }

  /**
   * Finds a segment.
   *
   * @throws SegmentMissingException if it is not in the store
   */
  Located locate(SegmentKey key) throws IOException {
    Located known = places.getIfPresent(key.id());
    return known != null && known.manifest().segment().key().equals(key) ? known : locateAgain(key);
  }

  /** Finds a segment that is not where it was. */
  Located locateAgain(SegmentKey key) throws IOException {
    places.invalidate(key.id());
    Optional<Located> found = store.locate(key);
    if (found.isEmpty()) {
      throw missing(key);
    }
    places.put(key.id(), found.get());
    return found.get();
  }

  private SegmentMissingException missing(SegmentKey key) {
    return new SegmentMissingException(key + " is in no directory of the store: " + directories());
  }

  /**
   * All places that have the segment now, the best first.
   *
   * @throws SegmentMissingException if it is not in the store
   */
  List<Located> copies(SegmentKey key) throws IOException {
    List<Located> copies = store.copies(key);
    if (copies.isEmpty()) {
      throw missing(key);
    }
    return copies;
  }

  /**
   * Reads a segment from another copy from now on, which had right what was wrong, or could not be
   * read, in the one before. Marks the one before as damaged if it is. A copy that is not there any
   * more has moved or was evicted, which is no fault and does not count.
   */
  void replaced(Located before, Located by, IOException why) {
    places.put(by.manifest().segment().key().id(), by);
    if (before.path().equals(by.path()) && before.hasLog() == by.hasLog()) {
      return; // It was a fault that has passed, or another reader has been faster.
    }
    if (why instanceof NoSuchFileException) {
      return;
    }
    replaced.increment();
    LOG.warn(
        "Remote store: {} is read from {} from now on: {}",
        by.manifest().segment().key(),
        by.hasLog() ? by.path() : "the cold manager",
        why.getMessage());
    failed(before, why);
  }

  /** Marks a copy as damaged if that is why it could not be read, for the health and the scrub. */
  void failed(Located copy, IOException why) {
    if (why instanceof CorruptChunkException) {
      store.damaged(
          copy.directory(), copy.manifest().segment().key(), String.valueOf(why.getMessage()));
    }
  }

  /** How often a copy was damaged or could not be read, and another one was read instead. */
  long replaced() {
    return replaced.sum();
  }

  String directories() {
    return String.join(", ", store.directories().stream().map(Object::toString).toList());
  }

  /** A segment was deleted or moved. */
  void forget(String id) {
    places.invalidate(id);
  }

  /** The segment that follows, if it is known to be there. */
  Optional<Located> next(SegmentInfo segment) throws IOException {
    Optional<KnownSegment> next = store.next(segment);
    return next.isEmpty() ? Optional.empty() : Optional.of(locate(next.get().key()));
  }

  /** Fills a buffer with the segment's bytes from a position on. */
  void read(Located place, long position, ByteBuffer target)
      throws IOException, InterruptedException {
    int bytes = target.remaining();
    if (place.hasLog()) {
      readLog(place, position, target);
      levels.fetched(place.directory().level(), bytes - target.remaining());
    } else {
      store.readCold(place, position, target);
      levels.fetched(levels.cold(), bytes - target.remaining());
    }
  }

  private void readLog(Located place, long position, ByteBuffer target)
      throws IOException, InterruptedException {
    int bytes = target.remaining();
    ByteBuffer read =
        place
            .directory()
            .access()
            .read(
                "reading " + place.file(ObjectType.LOG),
                control -> {
                  // Its own: a read that hangs may end when the caller's has long been used again.
                  ByteBuffer own = buffers.take(bytes);
                  readLog(place, position, own, control);
                  return own;
                });
    ByteBuffer unused = target.put(read.flip());
    buffers.giveBack(read);
  }

  private void readLog(Located place, long position, ByteBuffer own, CallControl control)
      throws IOException {
    Path log = place.file(ObjectType.LOG);
    boolean done = false;
    try (FileChannel channel = FileChannel.open(log, StandardOpenOption.READ)) {
      long at = position;
      while (own.hasRemaining()) {
        int count = channel.read(own, at);
        if (count < 0) {
          break;
        }
        at += count;
      }
      done = !control.givenUp();
    } catch (IOException e) {
      if (isStale(e)) {
        throw new NoSuchFileException(log.toString());
      }
      throw e;
    } finally {
      if (!done) {
        buffers.giveBack(own);
      }
    }
  }

  /**
   * Whether NFS says that another machine has removed a file that is open here. The JDK hands over
   * the system's text for ESTALE alone, and no number: in another language the read fails, and
   * another copy of the segment is read.
   */
  private static boolean isStale(IOException e) {
    return String.valueOf(e.getMessage()).contains("Stale file handle");
  }
}
