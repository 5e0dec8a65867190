package io.strata.kafka.migration.remote.read;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * The chunks that a reader is expected to ask for next: read ahead and not used yet, or used in
 * part. A cache that goes by how often a chunk was used would throw out exactly these; so they are
 * kept apart, within a bound. What is read ahead comes in only where there is space: it never
 * drives out what waits. What nobody came for in time has to leave.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class ExpectedChunks {

  private static final long LOOK_FOR_GONE_NANOS = Duration.ofSeconds(1).toNanos();

  private record Held(CachedChunk chunk, long touchedNanos) {}

  private final long limitBytes;
  private final long aheadLimitBytes;
  private final LongSupplier nanoTime;

  /** The one touched last is at the end. */
  @GuardedBy("this")
  private final Map<ChunkKey, Held> held = new LinkedHashMap<>();

  @GuardedBy("this")
  private long heldBytes;

  @GuardedBy("this")
  private long reservedBytes;

  @GuardedBy("this")
  private long lookedForGoneNanos;

  /**
   * With bounds.
   *
   * @param limitBytes for all of them
   * @param aheadLimitBytes what is read ahead comes in only below this: the rest is for the chunks
   *     that readers are in
   */
  ExpectedChunks(long limitBytes, long aheadLimitBytes, LongSupplier nanoTime) {
    this.limitBytes = limitBytes;
    this.aheadLimitBytes = aheadLimitBytes;
    this.nanoTime = nanoTime;
    lookedForGoneNanos = nanoTime.getAsLong();
  }

  long aheadLimitBytes() {
    return aheadLimitBytes;
  }

  /** Looks for a chunk without touching it. */
  synchronized Optional<CachedChunk> peek(ChunkKey key) {
    return Optional.ofNullable(held.get(key)).map(Held::chunk);
  }

  /** Looks for a chunk for a reader. */
  synchronized Optional<CachedChunk> touch(ChunkKey key) {
    Optional<Held> found = Optional.ofNullable(held.remove(key));
    found.ifPresent(f -> held.put(key, new Held(f.chunk(), nanoTime.getAsLong())));
    return found.map(Held::chunk);
  }

  /** Keeps space free for what is to be read ahead; false if there is none. */
  synchronized boolean reserve(long bytes) {
    if (heldBytes + reservedBytes + bytes > aheadLimitBytes) {
      return false;
    }
    reservedBytes += bytes;
    return true;
  }

  synchronized void giveBack(long bytes) {
    reservedBytes -= bytes;
  }

  /** Takes a chunk in; those that must leave for it, the one touched longest ago first. */
  synchronized List<CachedChunk> add(CachedChunk chunk) {
    List<CachedChunk> out = new ArrayList<>();
    Optional.ofNullable(held.remove(chunk.key()))
        .ifPresent(
            former -> {
              heldBytes -= former.chunk().bytes();
              out.add(former.chunk());
            });
    held.put(chunk.key(), new Held(chunk, nanoTime.getAsLong()));
    heldBytes += chunk.bytes();
    Iterator<Held> eldest = held.values().iterator();
    while (heldBytes > limitBytes && eldest.hasNext()) {
      CachedChunk next = eldest.next().chunk();
      eldest.remove();
      heldBytes -= next.bytes();
      out.add(next);
    }
    return out;
  }

  /** Takes a chunk out; false if it is not here. */
  synchronized boolean remove(CachedChunk chunk) {
    Optional<CachedChunk> here = peek(chunk.key());
    if (here.isEmpty() || here.get() != chunk) {
      return false;
    }
    held.remove(chunk.key());
    heldBytes -= chunk.bytes();
    return true;
  }

  /** Takes out the one that was touched longest ago. */
  synchronized Optional<CachedChunk> removeEldest() {
    Optional<CachedChunk> eldest = held.values().stream().findFirst().map(Held::chunk);
    eldest.ifPresent(this::remove);
    return eldest;
  }

  /** Takes out those that nobody came for in that time. */
  synchronized List<CachedChunk> removeForgotten(long patienceNanos) {
    long now = nanoTime.getAsLong();
    List<CachedChunk> out = new ArrayList<>();
    for (Iterator<Held> all = held.values().iterator(); all.hasNext(); ) {
      Held next = all.next();
      if (now - next.touchedNanos() <= patienceNanos) {
        break; // Those behind it were touched later.
      }
      all.remove();
      heldBytes -= next.chunk().bytes();
      out.add(next.chunk());
    }
    return out;
  }

  /** Takes out those whose space was taken away; looks for them now and then only. */
  synchronized List<CachedChunk> removeGone() {
    long now = nanoTime.getAsLong();
    if (now - lookedForGoneNanos < LOOK_FOR_GONE_NANOS) {
      return List.of();
    }
    lookedForGoneNanos = now;
    List<CachedChunk> out =
        held.values().stream().map(Held::chunk).filter(CachedChunk::gone).toList();
    out.forEach(this::remove);
    return out;
  }
}
