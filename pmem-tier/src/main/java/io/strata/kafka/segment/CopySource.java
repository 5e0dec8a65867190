package io.strata.kafka.segment;

import io.strata.kafka.segment.CopyResult.Outcome;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * The bytes that one copy of a segment reads, piece by piece, as long as the segment is what it was
 * when the copy began.
 *
 * <p>Thread safety: for the copying thread alone, beside any number of readers and writers.
 */
final class CopySource {

  /** How much is copied in one piece; what changes the segment waits for one at most. */
  private static final int PIECE_LENGTH = 256 << 10;

  private final CopyBegun begun;
  private final SegmentWriter writer;
  private final SegmentReader reader;
  private final ReaderGate gate;
  private final FileChannel logFile;
  private final CopyPace pace;

  CopySource(
      CopyBegun begun,
      SegmentWriter writer,
      SegmentReader reader,
      ReaderGate gate,
      FileChannel logFile,
      CopyPace pace) {
    this.begun = begun;
    this.writer = writer;
    this.reader = reader;
    this.gate = gate;
    this.logFile = logFile;
    this.pace = pace;
  }

  /** A buffer for the pieces of so many bytes. */
  static ByteBuffer buffer(long length) {
    return ByteBuffer.allocateDirect((int) Math.min(PIECE_LENGTH, Math.max(1, length)));
  }

  /** Where a piece goes. */
  interface Sink {
    /** Takes all of {@code piece}; false if the segment has changed. */
    boolean write(ByteBuffer piece, long position) throws IOException, InterruptedException;
  }

  /**
   * Reads all bytes where they are now; refuses what Kafka did not write.
   *
   * @param checksum of the bytes; it gets them
   * @param asItIs whether what Kafka did not write is taken, too
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
      return view.size() < begun.size()
          ? 0
          : reader.read(view, begun.size(), buffer, position, logFile);
    } finally {
      gate.exit(token);
    }
  }
}
