package io.strata.kafka.segment;

import io.strata.kafka.pool.Extent;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.SlotFlag;
import io.strata.kafka.segment.CopyPace.Step;
import io.strata.kafka.segment.CopyResult.Outcome;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.zip.CRC32C;

/**
 * Moves a segment's bytes between pools and home while it is read, and perhaps changed.
 *
 * <p>A move has two halves. The first copies, without any lock: the segment's own bytes are checked
 * (Kafka's batches have checksums), copied, forced, read back and compared. The second publishes,
 * under the writer lock, and only if the segment has not changed since the first began. Readers
 * never wait: they see the old place or the new one, and the old place is given to nobody before
 * the last of them has left it.
 *
 * <p>Thread safety: one move of a segment at a time, beside any number of readers and writers;
 * {@link #evict} may meet another move, which then finds the segment changed.
 */
final class SegmentMoves {

  /** How much is copied in one piece; what changes the segment waits for one at most. */
  private static final int PIECE_LENGTH = 256 << 10;

  private final Segment segment;
  private final SegmentWriter writer;
  private final SegmentReader reader;
  private final ReaderGate gate;

  SegmentMoves(Segment segment, SegmentWriter writer, SegmentReader reader, ReaderGate gate) {
    this.segment = segment;
    this.writer = writer;
    this.reader = reader;
    this.gate = gate;
  }

  /** A segment as it was when its move began. */
  private record Begun(long changes, SegmentView view, long size, Optional<Residence> residence) {
    long inPool() {
      return view.poolEnd(size);
    }
  }

  /** Where a piece goes. */
  private interface Sink {
    /** Takes all of {@code piece}; false if the segment has changed. */
    boolean write(ByteBuffer piece, long position) throws IOException;
  }

  private Optional<Begun> begin(boolean toHome) throws IOException {
    return writer.exclusively(
        publisher -> {
          if (!writer.movable()) {
            return Optional.empty();
          }
          SegmentView view = writer.view();
          if (toHome) {
            writer.homeIsWritten();
            writer.guard().beginCopy();
          }
          long changes = writer.guard().changes();
          return Optional.of(new Begun(changes, view, view.size(), writer.residence()));
        });
  }

  /** See {@link Segment#copyHome}. */
  CopyResult copyHome(FileChannel home, CopyPace pace, boolean asItIs)
      throws IOException, InterruptedException {
    Optional<Begun> begun = begin(true);
    if (begun.isEmpty() || begun.get().residence().isEmpty()) {
      writer.guard().endCopy();
      return CopyResult.ended(Outcome.CHANGED);
    }
    try {
      CopyResult result = copyHome(begun.get(), home, pace, asItIs);
      if (result.outcome() != Outcome.COPIED) {
        giveUp(begun.get(), home);
      }
      return result;
    } catch (IOException e) {
      try {
        giveUp(begun.get(), home);
      } catch (IOException suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    } finally {
      writer.guard().endCopy();
    }
  }

  /** What a copy that has not come to its end leaves at home is of no use, and takes room there. */
  private void giveUp(Begun begun, FileChannel home) throws IOException {
    if (home.isOpen()) {
      boolean hollow = writer.hollowUnlessClean(home);
      if (hollow && !begun.view().spilled()) {
        boolean unused = writer.guard().piece(begun.changes(), () -> home.truncate(0));
      }
    }
  }

  private CopyResult copyHome(Begun begun, FileChannel home, CopyPace pace, boolean asItIs)
      throws IOException, InterruptedException {
    ChangeGuard guard = writer.guard();
    CRC32C checksum = new CRC32C();
    Optional<CopyResult> refused = check(begun, home, pace, checksum);
    if (refused.isPresent() && !(asItIs && isCorrupt(refused.get()))) {
      return refused.get();
    }
    Sink sink =
        (piece, position) -> guard.piece(begun.changes(), () -> writeFully(home, piece, position));
    // The first bytes last, when the others are durable: a home that begins with a batch has them
    // all. Who finds it without its pool can tell by that. They lie in one sector: all or none.
    long head = Math.min(SegmentWriter.HOLLOW_HEAD_LENGTH, begun.inPool());
    Optional<Outcome> ended = copy(begun, head, begun.inPool(), home, pace, sink);
    if (ended.isPresent()) {
      return CopyResult.ended(ended.get());
    }
    if (!guard.piece(begun.changes(), () -> cutTo(home, begun.size()))) {
      return CopyResult.ended(Outcome.CHANGED);
    }
    pace.reached(Step.COPIED);
    if (begun.size() > head) {
      home.force(true);
    }
    ended = copy(begun, 0, head, home, pace, sink);
    if (ended.isPresent()) {
      return CopyResult.ended(ended.get());
    }
    home.force(true);
    pace.reached(Step.FORCED);
    long wrong = checksum.getValue() - checksumOfHome(home, begun.size());
    if (guard.changes() != begun.changes()) {
      return CopyResult.ended(Outcome.CHANGED);
    }
    if (wrong != 0) {
      throw differs("home", begun.size());
    }
    pace.reached(Step.VERIFIED);
    return CopyResult.copied(begun.changes(), begun.inPool());
  }

  private static boolean isCorrupt(CopyResult result) {
    return result.outcome() == Outcome.CORRUPT;
  }

  private static void cutTo(FileChannel home, long size) throws IOException {
    if (home.size() > size) {
      home.truncate(size);
    }
  }

  /** See {@link Segment#copyInto}. */
  CopyResult copyInto(Residence target, FileChannel home, CopyPace pace, boolean asItIs)
      throws IOException, InterruptedException {
    Optional<Begun> began = begin(false);
    if (began.isEmpty()) {
      return CopyResult.ended(Outcome.CHANGED);
    }
    Begun begun = began.get();
    if (begun.residence().isEmpty() && home.size() != begun.size()) {
      throw new IOException(
          segment.name()
              + ": found "
              + home.size()
              + " bytes, expected "
              + begun.size()
              + ": it is written past this broker's channels, and stays where it is");
    }
    CRC32C checksum = new CRC32C();
    Optional<CopyResult> refused = check(begun, home, pace, checksum);
    if (refused.isPresent() && !(asItIs && isCorrupt(refused.get()))) {
      return refused.get();
    }
    Slot slot = target.slot();
    while (slot.extents().capacity() < begun.size()) {
      if (!slot.grow()) {
        return CopyResult.ended(Outcome.NO_ROOM);
      }
    }
    Optional<Outcome> ended = copy(begun, 0, begun.size(), home, pace, storeIn(target));
    if (ended.isPresent()) {
      return CopyResult.ended(ended.get());
    }
    pace.reached(Step.COPIED);
    slot.commit(begun.size());
    slot.force(0, begun.size());
    pace.reached(Step.FORCED);
    if (checksumOfPool(target, begun.size()) != checksum.getValue()) {
      throw differs(target.toString(), begun.size());
    }
    pace.reached(Step.VERIFIED);
    return CopyResult.copied(begun.changes(), begun.size());
  }

  /** See {@link Segment#copyTailIntoPool}. */
  CopyResult copyTailIntoPool(FileChannel home, CopyPace pace, boolean asItIs)
      throws IOException, InterruptedException {
    Optional<Begun> began = begin(false);
    if (began.isEmpty() || began.get().residence().isEmpty() || !began.get().view().spilled()) {
      return CopyResult.ended(Outcome.CHANGED);
    }
    Begun begun = began.get();
    Residence in = begun.residence().orElseThrow();
    boolean done = false;
    try {
      CRC32C checksum = new CRC32C();
      Optional<CopyResult> refused = check(begun, home, pace, checksum);
      if (refused.isPresent() && !(asItIs && isCorrupt(refused.get()))) {
        return refused.get();
      }
      Optional<Outcome> grown = growFor(begun, in);
      if (grown.isPresent()) {
        return CopyResult.ended(grown.get());
      }
      Optional<Outcome> ended =
          copy(
              begun,
              begun.inPool(),
              begun.size(),
              home,
              pace,
              (piece, position) -> storeUnlessChanged(begun, in, piece, position));
      if (ended.isPresent()) {
        return CopyResult.ended(ended.get());
      }
      pace.reached(Step.COPIED);
      if (checksumOfPool(in, begun.size()) != checksum.getValue()) {
        if (changed(begun)) {
          return CopyResult.ended(Outcome.CHANGED);
        }
        throw differs(in.toString(), begun.size());
      }
      pace.reached(Step.VERIFIED);
      done = true;
      return CopyResult.copied(begun.changes(), begun.size() - begun.inPool());
    } finally {
      if (!done) {
        giveBackUnused(begun, in);
      }
    }
  }

  private Optional<Outcome> growFor(Begun begun, Residence in) throws IOException {
    return writer.exclusively(
        publisher -> {
          if (changed(begun)) {
            return Optional.of(Outcome.CHANGED);
          }
          while (in.slot().extents().capacity() < begun.size()) {
            if (!in.slot().grow()) {
              return Optional.of(Outcome.NO_ROOM);
            }
          }
          return Optional.empty();
        });
  }

  /** Under the lock: a truncation gives the extents to others. */
  private boolean storeUnlessChanged(Begun begun, Residence in, ByteBuffer piece, long position)
      throws IOException {
    return writer.exclusively(
        publisher -> {
          if (changed(begun)) {
            return false;
          }
          in.bytes().storeAndPersist(in.slot().extents(), position, piece, piece.remaining());
          return true;
        });
  }

  /** Drops the extents behind the seam, of which no reader knows. */
  private void giveBackUnused(Begun begun, Residence in) throws IOException {
    List<Extent> unused =
        writer.exclusively(
            publisher -> {
              if (changed(begun)) {
                return List.of();
              }
              return in.slot().truncate(in.slot().committedLength());
            });
    writer.release(in.pool(), unused);
  }

  private boolean changed(Begun begun) {
    return !writer.movable()
        || writer.guard().changes() != begun.changes()
        || !writer.residence().equals(begun.residence());
  }

  /** See {@link Segment#finishTail}. */
  boolean finishTail(CopyResult copied) throws IOException {
    return writer.exclusively(
        publisher -> {
          Optional<Residence> in = writer.residence();
          SegmentView view = writer.view();
          if (stale(copied) || in.isEmpty() || !view.spilled()) {
            return false;
          }
          Slot slot = in.get().slot();
          long size = view.size();
          // Home's bytes count until the flag is gone; then the pool's must have been forced.
          slot.commit(size);
          slot.force(0, size);
          slot.clear(SlotFlag.SPILLED);
          publisher.publish(in, SegmentView.inPool(in.get().bytes(), slot.extents(), size));
          return true;
        });
  }

  /** See {@link Segment#markClean}. */
  boolean markClean(CopyResult copied) throws IOException {
    return writer.exclusively(
        publisher -> {
          if (stale(copied) || writer.residence().isEmpty()) {
            return false;
          }
          writer.residence().get().slot().set(SlotFlag.CLEAN);
          return true;
        });
  }

  /** See {@link Segment#moveUp}. */
  boolean moveUp(CopyResult copied, Residence upper, Segment.Link link) throws IOException {
    return writer.exclusively(
        publisher -> {
          if (stale(copied)) {
            return false;
          }
          link.link();
          long size = writer.view().size();
          publisher.publish(
              Optional.of(upper), SegmentView.inPool(upper.bytes(), upper.slot().extents(), size));
          return true;
        });
  }

  private boolean stale(CopyResult copied) {
    return copied.outcome() != Outcome.COPIED
        || !writer.movable()
        || writer.guard().changes() != copied.changes();
  }

  /** See {@link Segment#evict}. */
  Optional<Residence> evict(Supplier<Optional<Residence>> lower, boolean wait) throws IOException {
    SegmentWriter.Change<Optional<Residence>> change = publisher -> evict(lower, publisher);
    return wait
        ? writer.exclusively(change)
        : writer.exclusivelyOrNot(change).flatMap(evicted -> evicted);
  }

  private Optional<Residence> evict(
      Supplier<Optional<Residence>> lower, SegmentWriter.Publisher publisher) throws IOException {
    Optional<Residence> in = writer.residence();
    if (!writer.movable() || in.isEmpty() || !in.get().slot().has(SlotFlag.CLEAN)) {
      return Optional.empty();
    }
    Residence upper = in.get();
    List<Extent> extents;
    long size = writer.view().size();
    try {
      extents = upper.free();
    } catch (IOException e) {
      // Freed or not: it can be read there and below, and a change would be lost in one of them.
      writer.markBroken(e);
      throw e;
    }
    Optional<Residence> below = lower.get();
    publisher.publish(
        below,
        below
            .map(to -> SegmentView.inPool(to.bytes(), to.slot().extents(), size))
            .orElseGet(() -> SegmentView.atHome(size)));
    boolean unused = gate.retire(() -> writer.release(upper.pool(), extents));
    return in;
  }

  /** Reads all bytes where they are now; refuses what Kafka did not write. */
  private Optional<CopyResult> check(Begun begun, FileChannel home, CopyPace pace, CRC32C checksum)
      throws IOException, InterruptedException {
    BatchCheck batches = new BatchCheck();
    Optional<Outcome> ended =
        read(
            begun,
            0,
            begun.size(),
            home,
            pace,
            (piece, position) -> {
              checksum.update(piece.duplicate());
              batches.update(piece);
              return true;
            });
    if (ended.isPresent()) {
      return Optional.of(CopyResult.ended(ended.get()));
    }
    Optional<String> problem = batches.problem();
    if (problem.isPresent() && writer.guard().changes() == begun.changes()) {
      return Optional.of(CopyResult.corrupt(problem.get()));
    }
    return problem.map(unused -> CopyResult.ended(Outcome.CHANGED));
  }

  private Optional<Outcome> copy(
      Begun begun, long from, long to, FileChannel home, CopyPace pace, Sink sink)
      throws IOException, InterruptedException {
    return read(
        begun,
        from,
        to,
        home,
        pace,
        (piece, position) -> {
          try {
            pace.before(piece.remaining());
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
          }
          return sink.write(piece, position);
        });
  }

  /** Hands the bytes on piece by piece; empty when all went well. */
  private Optional<Outcome> read(
      Begun begun, long from, long to, FileChannel home, CopyPace pace, Sink sink)
      throws IOException, InterruptedException {
    ByteBuffer buffer = ByteBuffer.allocateDirect((int) Math.min(PIECE_LENGTH, Math.max(1, to)));
    long at = from;
    while (at < to) {
      if (pace.stopped()) {
        return Optional.of(Outcome.STOPPED);
      }
      buffer.clear().limit((int) Math.min(buffer.capacity(), to - at));
      int read = readPiece(begun, buffer, at, home);
      if (read <= 0) {
        return Optional.of(Outcome.CHANGED);
      }
      if (!sink.write(buffer.flip(), at)) {
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
        return Optional.of(Outcome.CHANGED);
      }
      at += read;
    }
    return Optional.empty();
  }

  /** From where the segment is now: an eviction moves it, and its bytes stay the same. */
  private int readPiece(Begun begun, ByteBuffer buffer, long position, FileChannel home)
      throws IOException {
    int token = gate.enter();
    try {
      if (writer.guard().changes() != begun.changes()) {
        return 0;
      }
      SegmentView view = writer.view();
      return view.size() < begun.size()
          ? 0
          : reader.read(view, begun.size(), buffer, position, home);
    } finally {
      gate.exit(token);
    }
  }

  private static Sink storeIn(Residence target) {
    return (piece, position) -> {
      target.bytes().storeAndPersist(target.slot().extents(), position, piece, piece.remaining());
      return true;
    };
  }

  private static long checksumOfPool(Residence in, long size) throws IOException {
    CRC32C checksum = new CRC32C();
    ByteBuffer buffer = ByteBuffer.allocateDirect((int) Math.min(PIECE_LENGTH, Math.max(1, size)));
    for (long at = 0; at < size; at += buffer.limit()) {
      buffer.clear().limit((int) Math.min(buffer.capacity(), size - at));
      in.bytes().load(in.slot().extents(), at, buffer, buffer.remaining());
      checksum.update(buffer.flip());
    }
    return checksum.getValue();
  }

  private static long checksumOfHome(FileChannel home, long size) throws IOException {
    CRC32C checksum = new CRC32C();
    ByteBuffer buffer = ByteBuffer.allocateDirect((int) Math.min(PIECE_LENGTH, Math.max(1, size)));
    long at = 0;
    while (at < size) {
      buffer.clear().limit((int) Math.min(buffer.capacity(), size - at));
      int read = home.read(buffer, at);
      if (read <= 0) {
        break;
      }
      checksum.update(buffer.flip());
      at += read;
    }
    return checksum.getValue();
  }

  private static void writeFully(FileChannel home, ByteBuffer piece, long position)
      throws IOException {
    long at = position;
    while (piece.hasRemaining()) {
      at += home.write(piece, at);
    }
  }

  private IOException differs(String where, long size) {
    return new IOException(
        segment.name()
            + ": the copy of its "
            + size
            + " bytes in "
            + where
            + " was read back with another checksum: the copy is not used; look at that medium");
  }
}
