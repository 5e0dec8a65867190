package io.strata.kafka.segment;

import io.strata.kafka.pool.space.Extent;
import io.strata.kafka.segment.CopyResult.Outcome;
import io.strata.kafka.segment.view.HotView;
import io.strata.kafka.segment.view.ReaderGate;
import io.strata.kafka.segment.view.Residence;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * The second half of a move: makes a copy count, and frees what it makes needless. Under the writer
 * lock, and only if the segment has not changed since {@link Copying} began.
 *
 * <p>Readers never wait: they see the old place or the new one, and the old place is not freed
 * before the last of them has left it.
 *
 * <p>Thread safety: all methods may be called by any number of threads; {@link #evict} may meet a
 * copy that is being made, which then reads on where the segment is.
 */
final class Publishing {

  private final SegmentWriter writer;
  private final ReaderGate gate;

  Publishing(SegmentWriter writer, ReaderGate gate) {
    this.writer = writer;
    this.gate = gate;
  }

  /** See {@link Segment#markClean}. */
  boolean markClean(CopyResult copied) throws IOException {
    return writer.exclusively(
        () -> {
          if (stale(copied) || writer.residence().isEmpty()) {
            return false;
          }
          try {
            writer.residence().get().slot().setCleanLength(copied.end());
          } catch (IOException e) {
            // The next change would not withdraw what the slot may say.
            writer.markBroken(e);
            throw e;
          }
          return true;
        });
  }

  /** See {@link Segment#relocate}. */
  boolean relocate(CopyResult copied, Residence to, Segment.Link link) throws IOException {
    return writer.exclusively(
        () -> {
          if (hasGrown(copied)) {
            return false;
          }
          tie(link);
          long size = writer.view().size();
          writer.publish(Optional.of(to), HotView.inPool(to.bytes(), to.slot().extents(), size));
          return true;
        });
  }

  /** See {@link Segment#leave}. */
  Optional<Residence> leave(Segment.Link link) throws IOException {
    return writer.exclusively(
        () -> {
          Optional<Residence> in = writer.residence();
          if (!writer.movable() || in.isEmpty() || writer.view().size() > 0) {
            return Optional.empty();
          }
          tie(link);
          writer.publish(Optional.empty(), HotView.inLogFile(0));
          return in;
        });
  }

  private void tie(Segment.Link link) throws IOException {
    try {
      link.link();
    } catch (IOException | RuntimeException | Error e) {
      try {
        link.unlink();
      } catch (IOException | RuntimeException | Error f) {
        // Which of the two slots a start finds is not known: a change would be lost in one of them.
        e.addSuppressed(f);
        writer.markBroken(new IOException("its log file's tag is not known", f));
      }
      throw e;
    }
  }

  /** A copy that takes the segment's place must have all of it. */
  private boolean hasGrown(CopyResult copied) {
    return stale(copied) || writer.view().size() != copied.end();
  }

  private boolean stale(CopyResult copied) {
    return copied.outcome() != Outcome.COPIED
        || !writer.movable()
        || writer.guard().changes() != copied.changes();
  }

  /** See {@link Segment#evict}. */
  Optional<Residence> evict(boolean wait) throws IOException {
    return wait
        ? writer.exclusively(this::evict)
        : writer.exclusivelyOrNot(this::evict).flatMap(evicted -> evicted);
  }

  private Optional<Residence> evict() throws IOException {
    Optional<Residence> in = writer.residence();
    if (!writer.movable() || in.isEmpty() || !in.get().isClean()) {
      return Optional.empty();
    }
    List<Extent> extents;
    try {
      extents = in.get().free();
    } catch (IOException e) {
      // Freed or not: a change would be lost in the pool or in the log file.
      writer.markBroken(e);
      throw e;
    }
    writer.publish(Optional.empty(), HotView.inLogFile(writer.view().size()));
    boolean unused = gate.retire(() -> writer.release(in.get().pool(), extents));
    return in;
  }
}
