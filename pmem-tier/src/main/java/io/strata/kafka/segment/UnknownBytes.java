package io.strata.kafka.segment;

import io.strata.kafka.pool.SlotFlag;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.OptionalLong;

/**
 * Finds bytes in the log file of a segment in a pool that are not the segment's: what a broker
 * without Strata appended, say.
 *
 * <p>A copy to the log file writes the first bytes last, when all others are durable, and a change
 * in the pool is preceded by zeros over these: a log file that begins with a batch, and whose
 * segment has not spilled, has the pool's bytes and no more.
 *
 * <p>Thread safety: stateless; for a segment that nobody changes.
 */
public final class UnknownBytes {

  /** Of a log file that is said to be whole only the end is looked at, not gigabytes. */
  private static final long END_LENGTH = 4096;

  private UnknownBytes() {}

  /**
   * The offset in the file of the first byte that is not the segment's.
   *
   * @param in the segment's slot, LIVE
   * @param file the segment's log file, which begins with a batch
   * @return empty if there is none that counts
   */
  public static OptionalLong first(Residence in, Path file) throws IOException {
    long inPool = in.slot().committedLength();
    boolean spilled = in.slot().has(SlotFlag.SPILLED);
    if (spilled && inPool < HomeHead.LENGTH) {
      return OptionalLong.empty(); // What the file begins with has spilled.
    }
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      long common = Math.min(channel.size(), inPool);
      long from = in.isClean() ? Math.max(0, common - END_LENGTH) : 0;
      OptionalLong difference = compare(in, channel, from, common);
      return difference.isEmpty() && !spilled && channel.size() > inPool
          ? OptionalLong.of(inPool)
          : difference;
    }
  }

  private static OptionalLong compare(Residence in, FileChannel file, long from, long to)
      throws IOException {
    ByteBuffer pool = CopySource.buffer(to - from);
    ByteBuffer log = CopySource.buffer(to - from);
    for (long at = from; at < to; at += pool.limit()) {
      int length = (int) Math.min(pool.capacity(), to - at);
      in.bytes().load(in.slot().extents(), at, pool.clear().limit(length), length);
      readFully(file, at, log.clear().limit(length));
      int difference = pool.flip().mismatch(log.flip());
      if (difference >= 0) {
        return OptionalLong.of(at + difference);
      }
    }
    return OptionalLong.empty();
  }

  private static void readFully(FileChannel file, long position, ByteBuffer target)
      throws IOException {
    while (target.hasRemaining()) {
      if (file.read(target, position + target.position()) < 0) {
        throw new IOException("the file became shorter while it was compared");
      }
    }
  }
}
