package io.strata.kafka.segment;

import io.strata.kafka.pool.Slot;
import io.strata.kafka.segment.CopyPace.Step;
import io.strata.kafka.segment.CopyResult.Outcome;
import io.strata.kafka.segment.view.BatchCheck;
import io.strata.kafka.segment.view.HotView;
import io.strata.kafka.segment.view.ReaderGate;
import io.strata.kafka.segment.view.Residence;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/**
 * The first half of a move: gives a segment a second place, in the log file or in a pool, while it
 * is read and perhaps changed.
 *
 * <p>No lock is held for longer than one piece takes: the segment's own bytes are checked (Kafka's
 * batches have checksums), copied, forced, read back and compared. A change of these bytes ends the
 * copy, an append does not. The second half is in {@link Segment}: {@link Segment#markClean} and
 * {@link Segment#relocate}.
 *
 * <p>Thread safety: one copy of a segment at a time, beside any number of readers and writers.
 */
final class Copying {

  /** The most that is copied in one piece; what changes the segment waits for one at most. */
  private static final int PIECE_LENGTH = 256 << 10;

  private final Segment segment;
  private final SegmentWriter writer;
  private final ReaderGate gate;

  Copying(Segment segment, SegmentWriter writer, ReaderGate gate) {
    this.segment = segment;
    this.writer = writer;
    this.gate = gate;
  }

  /** A segment as it was when a copy of it began. */
  private record Begun(long changes, HotView view, long size, Optional<Residence> residence) {

    /** Returns how many of the bytes were in the pool. */
    long inPool() {
      return view.poolEnd(size);
    }
  }

  /** A buffer for the pieces of so many bytes. */
  static ByteBuffer buffer(long length) {
    return ByteBuffer.allocateDirect((int) Math.min(PIECE_LENGTH, Math.max(1, length)));
  }

  /** Takes the pieces of a copy. */
  private interface Sink {
    /** Takes all of {@code piece}; false if the segment has changed. */
    boolean write(ByteBuffer piece, long position) throws IOException, InterruptedException;
  }

  private Optional<Begun> begin(boolean toLogFile) throws IOException {
    return writer.exclusively(
        () -> {
          if (!writer.movable()) {
            return Optional.empty();
          }
          HotView view = writer.view();
          if (toLogFile) {
            writer.logFileIsWritten();
            writer.guard().beginCopy();
          }
          long changes = writer.guard().changes();
          return Optional.of(new Begun(changes, view, view.size(), writer.residence()));
        });
  }

  /** See {@link Segment#copyToLogFile}. */
  CopyResult copyToLogFile(
      FileChannel logFile, CopyPace pace, boolean asItIs, Segment.LogFileForce force)
      throws IOException, InterruptedException {
    Optional<Begun> begun = begin(true);
    if (begun.isEmpty() || begun.get().residence().isEmpty()) {
      writer.guard().endCopy();
      return CopyResult.ended(Outcome.CHANGED);
    }
    try {
      CopyResult result = copyToLogFile(begun.get(), logFile, pace, asItIs, force);
      if (result.outcome() != Outcome.COPIED) {
        drop(logFile);
      }
      return result;
    } catch (IOException e) {
      try {
        drop(logFile);
      } catch (IOException suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    } finally {
      writer.guard().endCopy();
    }
  }

  /** The bytes of an unfinished copy are of no use in the log file. */
  private void drop(FileChannel logFile) throws IOException {
    if (logFile.isOpen()) {
      writer.dropCopied(logFile);
    }
  }

  private CopyResult copyToLogFile(
      Begun begun, FileChannel logFile, CopyPace pace, boolean asItIs, Segment.LogFileForce force)
      throws IOException, InterruptedException {
    Residence in = begun.residence().orElseThrow();
    long clean = in.slot().cleanLength();
    Source source = new Source(begun, logFile, pace);
    long from = asItIs ? whereToBegin(source, begun, logFile) : clean;
    long end = begun.inPool();
    long limit = from + Math.min(end - from, pace.pieceBytes());
    ChangeGuard guard = writer.guard();
    CRC32C checksum = new CRC32C();
    BatchCheck batches = new BatchCheck(from);
    Sink sink =
        (piece, position) -> {
          checksum.update(piece.duplicate());
          batches.update(piece.duplicate());
          int length = piece.remaining();
          boolean written =
              guard.piece(begun.changes(), () -> writeFully(logFile, piece, position));
          if (written) {
            pace.written(position, length);
          }
          return written;
        };
    Optional<Outcome> ended = source.copy(from, limit, sink);
    if (ended.isEmpty() && limit < end && batches.validEnd() == from) {
      // A batch that is larger than a piece.
      ended = source.copy(limit, end, sink);
      limit = end;
    }
    if (ended.isEmpty() && limit == end) {
      // The batch that the pool's bytes end in ends in the log file, if they have spilled.
      ended =
          source.read(
              end,
              begun.size(),
              (piece, position) -> {
                batches.update(piece);
                return true;
              });
    }
    if (ended.isPresent()) {
      return CopyResult.ended(ended.get());
    }
    Optional<String> problem = limit == end ? batches.problem() : batches.problemSoFar();
    if (problem.isPresent() && !asItIs) {
      return guard.changes() == begun.changes()
          ? CopyResult.corrupt(problem.get())
          : CopyResult.ended(Outcome.CHANGED);
    }
    pace.reached(Step.COPIED);
    force.run();
    writer.logFileIsForced(begun.size(), begun.changes());
    // Not under the writer lock, where it is asked for: either copy may be read from then on.
    in.slot().force(from, limit);
    pace.reached(Step.FORCED);
    boolean same = checksumInFile(logFile, from, limit) == checksum.getValue();
    if (guard.changes() != begun.changes()) {
      return CopyResult.ended(Outcome.CHANGED);
    }
    if (!same) {
      throw differs("log file", limit);
    }
    pace.reached(Step.VERIFIED);
    // The part of the next batch that was written does not count: the next piece begins with it.
    long to = limit == end ? end : batches.validEnd();
    return CopyResult.copied(begun.changes(), to, to - from);
  }

  /**
   * Returns where a copy of the pool's bytes begins: at the dirty ones, if the log file has the
   * clean ones, as the pool does. Bytes that were evicted are not read. Whatever has become of the
   * pool's copy since: what is good in the log file stays.
   */
  private long whereToBegin(Source source, Begun begun, FileChannel logFile)
      throws IOException, InterruptedException {
    Residence in = begun.residence().orElseThrow();
    long start = in.slot().extents().start();
    long clean = in.slot().cleanLength();
    // Where the segment has spilled may be within a batch.
    long whole = in.isClean() ? begun.size() : clean;
    return isSame(source, logFile, start, clean) || isGood(logFile, whole) ? clean : start;
  }

  private static boolean isSame(Source source, FileChannel logFile, long from, long to)
      throws IOException, InterruptedException {
    CRC32C inPool = new CRC32C();
    try {
      Optional<Outcome> ended =
          source.read(
              from,
              to,
              (piece, position) -> {
                inPool.update(piece);
                return true;
              });
      if (ended.isPresent()) {
        return false;
      }
    } catch (IOException e) {
      return false; // The pool's memory fails: the log file is looked at by itself.
    }
    return checksumInFile(logFile, from, to) == inPool.getValue();
  }

  /** Returns whether the first bytes of a log file are there, and are what Kafka wrote. */
  private static boolean isGood(FileChannel logFile, long size) throws IOException {
    BatchCheck batches = new BatchCheck(0);
    return pieces(logFile, 0, size, batches::update) == size && batches.problem().isEmpty();
  }

  private static void writeFully(FileChannel logFile, ByteBuffer piece, long position)
      throws IOException {
    long at = position;
    while (piece.hasRemaining()) {
      at += logFile.write(piece, at);
    }
  }

  /** See {@link Segment#copyInto}. */
  CopyResult copyInto(Residence target, FileChannel logFile, CopyPace pace, boolean asItIs)
      throws IOException, InterruptedException {
    Optional<Begun> began = begin(false);
    if (began.isEmpty()) {
      return CopyResult.ended(Outcome.CHANGED);
    }
    Begun begun = began.get();
    long inLogFile = begun.residence().isPresent() ? begun.size() : logFile.size();
    if (inLogFile != begun.size()) {
      if (changed(begun)) {
        return CopyResult.ended(Outcome.CHANGED);
      }
      throw new IOException(
          """
          %s: found %s bytes, expected %s: it is written past this broker's channels, and stays \
          where it is\
          """
              .formatted(segment.name(), inLogFile, begun.size()));
    }
    // Before all of it is read: there may be space for its bytes, and in too many pieces.
    Slot slot = target.slot();
    while (slot.extents().end() < begun.size()) {
      if (!slot.growFor(begun.size() - slot.extents().end())) {
        return CopyResult.ended(Outcome.TARGET_FULL);
      }
    }
    Source source = new Source(begun, logFile, pace);
    CRC32C checksum = new CRC32C();
    Optional<CopyResult> refused = source.check(checksum, asItIs);
    if (refused.isPresent()) {
      return refused.get();
    }
    Optional<Outcome> ended = source.copy(0, begun.size(), storeIn(target));
    if (ended.isPresent()) {
      return CopyResult.ended(ended.get());
    }
    pace.reached(Step.COPIED);
    slot.commit(begun.size());
    slot.force(0, begun.size());
    pace.reached(Step.FORCED);
    if (checksumInPool(target, begun.size()) != checksum.getValue()) {
      if (changed(begun)) {
        return CopyResult.ended(Outcome.CHANGED);
      }
      throw differs(target.toString(), begun.size());
    }
    pace.reached(Step.VERIFIED);
    return CopyResult.copied(begun.changes(), begun.size(), begun.size());
  }

  private static Sink storeIn(Residence target) {
    return (piece, position) -> {
      target.bytes().storeAndPersist(target.slot().extents(), position, piece, piece.remaining());
      return true;
    };
  }

  private boolean changed(Begun begun) {
    return !writer.movable()
        || writer.guard().changes() != begun.changes()
        || writer.view().size() != begun.size()
        || !writer.residence().equals(begun.residence());
  }

  private IOException differs(String where, long size) {
    return new IOException(
        """
        %s: the copy of its %s bytes in %s was read back with another checksum: the copy is not \
        used; look at that medium\
        """
            .formatted(segment.name(), size, where));
  }

  /**
   * The bytes that one copy reads, piece by piece, while the segment is what it was when the copy
   * began.
   */
  private final class Source {
    private final Begun begun;
    private final FileChannel logFile;
    private final CopyPace pace;

    Source(Begun begun, FileChannel logFile, CopyPace pace) {
      this.begun = begun;
      this.logFile = logFile;
      this.pace = pace;
    }

    /**
     * Reads all bytes where they are now; refuses what Kafka did not write.
     *
     * @param checksum of the bytes; it gets them
     * @param asItIs whether what Kafka did not write is taken too
     * @return how the copy ended, if it did
     */
    Optional<CopyResult> check(CRC32C checksum, boolean asItIs)
        throws IOException, InterruptedException {
      BatchCheck batches = new BatchCheck(0);
      Optional<Outcome> ended =
          read(
              0,
              begun.size(),
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
        return asItIs ? Optional.empty() : Optional.of(CopyResult.corrupt(problem.get()));
      }
      return problem.map(unused -> CopyResult.ended(Outcome.CHANGED));
    }

    /**
     * Hands bytes to the sink at the copy's pace.
     *
     * @return how the copy ended; empty when all went well
     */
    Optional<Outcome> copy(long from, long to, Sink sink) throws IOException, InterruptedException {
      return read(
          from,
          to,
          (piece, position) -> {
            pace.before(piece.remaining());
            return sink.write(piece, position);
          });
    }

    /** Hands the bytes on piece by piece; empty when all went well. */
    Optional<Outcome> read(long from, long to, Sink sink) throws IOException, InterruptedException {
      ByteBuffer buffer = buffer(to - from);
      long at = from;
      while (at < to) {
        if (pace.stopped()) {
          return Optional.of(Outcome.STOPPED);
        }
        buffer.clear().limit((int) Math.min(buffer.capacity(), to - at));
        int read = readPiece(buffer, at);
        if (read <= 0) {
          return Optional.of(Outcome.CHANGED);
        }
        if (!sink.write(buffer.flip(), at)) {
          return Optional.of(Outcome.CHANGED);
        }
        at += read;
      }
      return Optional.empty();
    }

    /** From where the segment is now: an eviction moves it, and its bytes stay the same. */
    private int readPiece(ByteBuffer buffer, long position) throws IOException {
      int token = gate.enter();
      try {
        if (writer.guard().changes() != begun.changes()) {
          return 0;
        }
        HotView view = writer.view();
        return view.size() < begun.size() ? 0 : view.read(begun.size(), buffer, position, logFile);
      } finally {
        gate.exit(token);
      }
    }
  }

  /** The checksum of a copy as it is read back. */
  static long checksumInPool(Residence in, long size) throws IOException {
    CRC32C checksum = new CRC32C();
    ByteBuffer buffer = buffer(size);
    for (long at = 0; at < size; at += buffer.limit()) {
      buffer.clear().limit((int) Math.min(buffer.capacity(), size - at));
      in.bytes().load(in.slot().extents(), at, buffer, buffer.remaining());
      checksum.update(buffer.flip());
    }
    return checksum.getValue();
  }

  /** As {@link #checksumInPool}; of fewer bytes if the log file has fewer. */
  static long checksumInFile(FileChannel logFile, long from, long to) throws IOException {
    CRC32C checksum = new CRC32C();
    long unused = pieces(logFile, from, to, checksum::update);
    return checksum.getValue();
  }

  /**
   * Hands on a log file's bytes, piece by piece.
   *
   * @return the offset that they end at: before {@code to} if the file does
   */
  static long pieces(FileChannel logFile, long from, long to, Consumer<ByteBuffer> sink)
      throws IOException {
    ByteBuffer buffer = buffer(to - from);
    long at = from;
    while (at < to) {
      buffer.clear().limit((int) Math.min(buffer.capacity(), to - at));
      int read = logFile.read(buffer, at);
      if (read <= 0) {
        break;
      }
      sink.accept(buffer.flip());
      at += read;
    }
    return at;
  }
}
