package io.strata.kafka.segment;

import io.strata.kafka.pool.Slot;
import io.strata.kafka.segment.CopyPace.Step;
import io.strata.kafka.segment.CopyResult.Outcome;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * The first half of a move: gives a segment a second place, in the log file or in a pool, while it
 * is read and perhaps changed.
 *
 * <p>No lock is held for longer than one piece takes: the segment's own bytes are checked (Kafka's
 * batches have checksums), copied, forced, read back and compared. A change of these bytes ends the
 * copy, an append does not. The second half is {@link Publishing}'s.
 *
 * <p>Thread safety: one copy of a segment at a time, beside any number of readers and writers.
 */
final class Copying {

  private final Segment segment;
  private final SegmentWriter writer;
  private final SegmentReader reader;
  private final ReaderGate gate;

  Copying(Segment segment, SegmentWriter writer, SegmentReader reader, ReaderGate gate) {
    this.segment = segment;
    this.writer = writer;
    this.reader = reader;
    this.gate = gate;
  }

  private Optional<CopyBegun> begin(boolean toLogFile) throws IOException {
    return writer.exclusively(
        publisher -> {
          if (!writer.movable()) {
            return Optional.empty();
          }
          HotView view = writer.view();
          if (toLogFile) {
            writer.logFileIsWritten();
            writer.guard().beginCopy();
          }
          long changes = writer.guard().changes();
          return Optional.of(new CopyBegun(changes, view, view.size(), writer.residence()));
        });
  }

  /** See {@link Segment#copyToLogFile}. */
  CopyResult copyToLogFile(FileChannel logFile, CopyPace pace, boolean asItIs)
      throws IOException, InterruptedException {
    Optional<CopyBegun> begun = begin(true);
    if (begun.isEmpty() || begun.get().residence().isEmpty()) {
      writer.guard().endCopy();
      return CopyResult.ended(Outcome.CHANGED);
    }
    try {
      CopyResult result = copyToLogFile(begun.get(), logFile, pace, asItIs);
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

  /** What a copy that has not come to its end leaves in the log file is of no use there. */
  private void drop(FileChannel logFile) throws IOException {
    if (logFile.isOpen()) {
      writer.dropCopied(logFile);
    }
  }

  private CopyResult copyToLogFile(
      CopyBegun begun, FileChannel logFile, CopyPace pace, boolean asItIs)
      throws IOException, InterruptedException {
    Residence in = begun.residence().orElseThrow();
    long clean = in.slot().cleanLength();
    // Whatever has become of the pool's copy since: what is good in the log file stays. Where the
    // segment has spilled may be within a batch.
    long start = in.slot().extents().start();
    long from = asItIs && !isGood(logFile, in.isClean() ? begun.size() : clean) ? start : clean;
    long end = begun.inPool();
    long limit = from + Math.min(end - from, pace.pieceBytes());
    ChangeGuard guard = writer.guard();
    CopySource source = new CopySource(begun, writer, reader, gate, logFile, pace);
    CRC32C checksum = new CRC32C();
    BatchCheck batches = new BatchCheck(from);
    CopySource.Sink sink =
        (piece, position) -> {
          checksum.update(piece.duplicate());
          batches.update(piece.duplicate());
          return guard.piece(begun.changes(), () -> writeFully(logFile, piece, position));
        };
    Optional<Outcome> ended = source.copy(from, limit, sink);
    if (ended.isEmpty() && limit < end && batches.validEnd() == from) {
      // A batch that is larger than a piece.
      ended = source.copy(limit, end, sink);
      limit = end;
    }
    if (ended.isEmpty() && limit == end) {
      // The batch that the pool's bytes end in ends in the log file, if they have spilled.
      ended = source.read(end, begun.size(), batches::take);
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
    logFile.force(true);
    // Not under the writer lock, where it is asked for: either copy may be read from then on.
    in.slot().force(from, limit);
    pace.reached(Step.FORCED);
    boolean same = ReadBack.ofFile(logFile, from, limit) == checksum.getValue();
    if (guard.changes() != begun.changes()) {
      return CopyResult.ended(Outcome.CHANGED);
    }
    if (!same) {
      throw differs("log file", limit);
    }
    pace.reached(Step.VERIFIED);
    // What was written of the next batch does not count: the next piece begins with it.
    long to = limit == end ? end : batches.validEnd();
    return CopyResult.copied(begun.changes(), to, to - from);
  }

  /** Whether the first bytes of a log file are there, and are what Kafka wrote. */
  private static boolean isGood(FileChannel logFile, long size) throws IOException {
    BatchCheck batches = new BatchCheck(0);
    return ReadBack.pieces(logFile, 0, size, batches::update) == size
        && batches.problem().isEmpty();
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
    Optional<CopyBegun> began = begin(false);
    if (began.isEmpty()) {
      return CopyResult.ended(Outcome.CHANGED);
    }
    CopyBegun begun = began.get();
    long inLogFile = begun.residence().isPresent() ? begun.size() : logFile.size();
    if (inLogFile != begun.size()) {
      if (changed(begun)) {
        return CopyResult.ended(Outcome.CHANGED);
      }
      throw new IOException(
          segment.name()
              + ": found "
              + inLogFile
              + " bytes, expected "
              + begun.size()
              + ": it is written past this broker's channels, and stays where it is");
    }
    CopySource source = new CopySource(begun, writer, reader, gate, logFile, pace);
    CRC32C checksum = new CRC32C();
    Optional<CopyResult> refused = source.check(checksum, asItIs);
    if (refused.isPresent()) {
      return refused.get();
    }
    Slot slot = target.slot();
    while (slot.extents().end() < begun.size()) {
      if (!slot.grow()) {
        return CopyResult.ended(Outcome.NO_SPACE);
      }
    }
    Optional<Outcome> ended = source.copy(0, begun.size(), storeIn(target));
    if (ended.isPresent()) {
      return CopyResult.ended(ended.get());
    }
    pace.reached(Step.COPIED);
    slot.commit(begun.size());
    slot.force(0, begun.size());
    pace.reached(Step.FORCED);
    if (ReadBack.ofPool(target, begun.size()) != checksum.getValue()) {
      if (changed(begun)) {
        return CopyResult.ended(Outcome.CHANGED);
      }
      throw differs(target.toString(), begun.size());
    }
    pace.reached(Step.VERIFIED);
    return CopyResult.copied(begun.changes(), begun.size(), begun.size());
  }

  private static CopySource.Sink storeIn(Residence target) {
    return (piece, position) -> {
      target.bytes().storeAndPersist(target.slot().extents(), position, piece, piece.remaining());
      return true;
    };
  }

  private boolean changed(CopyBegun begun) {
    return !writer.movable()
        || writer.guard().changes() != begun.changes()
        || writer.view().size() != begun.size()
        || !writer.residence().equals(begun.residence());
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
