package io.strata.kafka.segment;

import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.segment.view.BatchCheck;
import io.strata.kafka.segment.view.Residence;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Tells a log file of another moment than the pool's, as one partition's directory has that was put
 * back from a copy.
 *
 * <p>Thread safety: stateless; for a segment that does not change.
 */
public final class LogFileMoment {

  /** So many bytes are looked at: a batch that ends with more zeros is not told from a hole. */
  private static final int END_LENGTH = 64;

  private LogFileMoment() {}

  /**
   * Returns whether a log file has all records that the pool has of its segment, and more, as it
   * has if it is newer than the pool.
   *
   * @param in the segment's slot, LIVE
   * @param size of the log file
   */
  public static boolean isAhead(Residence in, Path file, long size) throws IOException {
    long end = in.slot().committedLength();
    if (end == 0 || size <= end || in.slot().has(SlotFlag.SPILLED)) {
      return false;
    }
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      BatchCheck batches = new BatchCheck(0);
      long unused = Copying.pieces(channel, 0, size, batches::update);
      return batches.validEnd() > end;
    }
  }

  /**
   * Returns whether a spilled segment's log file is older than the pool: a copy of the pool's bytes
   * fills the file's hole from its beginning, and the clean length says how far. An older file is
   * as long, and has zeros there.
   *
   * @param in the segment's slot, LIVE
   */
  public static boolean hasUnfilledHole(Residence in, Path file) throws IOException {
    long clean = in.slot().cleanLength();
    // Where the pool has no clean bytes, nothing that only it has can be given back.
    long from = Math.max(in.slot().extents().start(), clean - END_LENGTH);
    if (from >= clean || !in.slot().has(SlotFlag.SPILLED)) {
      return false;
    }
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      return isZeros(read(channel, from, clean)) && !isZeros(load(in, from, clean));
    }
  }

  private static ByteBuffer read(FileChannel channel, long from, long to) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate((int) (to - from));
    while (bytes.hasRemaining() && channel.read(bytes, from + bytes.position()) >= 0) {
      // Short reads are allowed.
    }
    return bytes.flip();
  }

  private static ByteBuffer load(Residence in, long from, long to) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate((int) (to - from));
    in.bytes().load(in.slot().extents(), from, bytes, bytes.capacity());
    return bytes.flip();
  }

  private static boolean isZeros(ByteBuffer bytes) {
    while (bytes.hasRemaining()) {
      if (bytes.get() != 0) {
        return false;
      }
    }
    return true;
  }
}
