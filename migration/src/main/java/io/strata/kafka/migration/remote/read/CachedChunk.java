package io.strata.kafka.migration.remote.read;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.nio.ByteBuffer;

/**
 * A chunk in the cache.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class CachedChunk implements Chunk {

  private final ChunkArena.Frame frame;
  private final AheadAccount account;

  /** Read ahead, and nobody has asked for it yet. */
  @GuardedBy("this")
  private boolean awaited;

  @GuardedBy("this")
  private boolean stale;

  private CachedChunk(ChunkArena.Frame frame, AheadAccount account, boolean awaited) {
    this.frame = frame;
    this.account = account;
    this.awaited = awaited;
  }

  /** What a reader asked for. */
  static CachedChunk asked(ChunkArena.Frame frame, AheadAccount account) {
    return new CachedChunk(frame, account, false);
  }

  /** What was read ahead. */
  static CachedChunk ahead(ChunkArena.Frame frame, AheadAccount account) {
    return new CachedChunk(frame, account, true);
  }

  ChunkKey key() {
    return frame.key();
  }

  int bytes() {
    return frame.bytes();
  }

  boolean gone() {
    return frame.gone();
  }

  @Override
  public boolean read(int offset, ByteBuffer target) {
    return frame.read(offset, target);
  }

  /** A reader asks for it. */
  synchronized void used() {
    if (awaited) {
      awaited = false;
      account.used(frame.bytes());
    }
  }

  /** Its reader has not come for a long time. */
  synchronized void grewStale() {
    if (awaited && !stale) {
      stale = true;
      account.stale();
    }
  }

  /** Leaves the cache. */
  void leave() {
    synchronized (this) {
      if (awaited) {
        awaited = false;
        account.wasted(frame.bytes(), stale);
      }
    }
    frame.release();
  }
}
