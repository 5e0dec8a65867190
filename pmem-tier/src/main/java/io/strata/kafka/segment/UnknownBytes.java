package io.strata.kafka.segment;

import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.segment.view.Residence;
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
 * <p>The log file of a segment that has not spilled has the segment's bytes up to the clean length.
 * Behind it there is nothing, or, after a crash in a destage, more of the pool's bytes and pages of
 * zeros that the power has left.
 *
 * <p>Thread safety: stateless; for a segment that does not change.
 */
public final class UnknownBytes {

  /** A page that the power has kept from the disk is zeros. */
  private static final int PAGE_LENGTH = 4096;

  /** Only the end of the clean bytes is looked at, not gigabytes. */
  private static final long END_LENGTH = 4096;

  /** The header of a record batch of magic 2, up to its records. */
  private static final int BATCH_HEADER = 61;

  private static final int BATCH_LENGTH = 8;
  private static final long BATCH_OVERHEAD = 12;
  private static final int BATCH_MAGIC = 16;
  private static final int NEWEST_MAGIC = 2;
  private static final int LAST_OFFSET_DELTA = 23;

  private UnknownBytes() {}

  /**
   * The offset in the file of the first byte that is not the segment's.
   *
   * @param in the segment's slot, LIVE
   * @return empty if there is none that counts
   */
  public static OptionalLong first(Residence in, Path file) throws IOException {
    return first(in, file, END_LENGTH);
  }

  /** As {@link #first}, and looks at all clean bytes that the pool has. */
  public static OptionalLong firstFromStart(Residence in, Path file) throws IOException {
    return first(in, file, Long.MAX_VALUE);
  }

  /**
   * Finds the byte.
   *
   * @param cleanLength so many clean bytes at most are looked at
   */
  private static OptionalLong first(Residence in, Path file, long cleanLength) throws IOException {
    long inPool = in.slot().committedLength();
    boolean spilled = in.slot().has(SlotFlag.SPILLED);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      long common = Math.min(channel.size(), inPool);
      long from = Math.max(0, Math.min(common, in.slot().cleanLength()) - cleanLength);
      from = Math.max(from, Math.min(common, in.slot().extents().start()));
      OptionalLong difference = compare(in, channel, from, common, true);
      return difference.isEmpty() && !spilled && channel.size() > inPool
          ? OptionalLong.of(inPool)
          : difference;
    }
  }

  /**
   * Returns whether a log file has all of a segment's bytes that the pool has, and, unless the
   * segment has spilled, no others.
   *
   * @param in the segment's slot, LIVE
   */
  public static boolean hasAll(Residence in, Path file) throws IOException {
    long inPool = in.slot().committedLength();
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      boolean fits =
          in.slot().has(SlotFlag.SPILLED) ? channel.size() >= inPool : channel.size() == inPool;
      return fits && compare(in, channel, in.slot().extents().start(), inPool, false).isEmpty();
    }
  }

  /**
   * Returns the offset behind the last whole batch of the dirty bytes, by the batches' headers
   * (Kafka's documentation, "Record Batch"); empty if there is none, or none of that format.
   *
   * @param in the segment's slot, LIVE
   */
  public static OptionalLong dirtyEndOffset(Residence in) throws IOException {
    long end = in.slot().committedLength();
    ByteBuffer header = ByteBuffer.allocate(BATCH_HEADER);
    OptionalLong offset = OptionalLong.empty();
    long at = Math.max(in.slot().cleanLength(), in.slot().extents().start());
    while (at + BATCH_HEADER <= end) {
      in.bytes().load(in.slot().extents(), at, header.clear(), BATCH_HEADER);
      long length = BATCH_OVERHEAD + header.getInt(BATCH_LENGTH);
      if (header.get(BATCH_MAGIC) != NEWEST_MAGIC || length < BATCH_HEADER || at + length > end) {
        break;
      }
      offset = OptionalLong.of(header.getLong(0) + header.getInt(LAST_OFFSET_DELTA) + 1);
      at += length;
    }
    return offset;
  }

  private static OptionalLong compare(
      Residence in, FileChannel file, long from, long to, boolean zerosMayLack) throws IOException {
    ByteBuffer pool = Copying.buffer(to - from);
    ByteBuffer log = Copying.buffer(to - from);
    long at = from;
    while (at < to) {
      int length = (int) Math.min(pool.capacity(), to - at);
      in.bytes().load(in.slot().extents(), at, pool.clear().limit(length), length);
      readFully(file, at, log.clear().limit(length));
      int difference = pool.flip().mismatch(log.flip());
      int zeros = difference < 0 || !zerosMayLack ? 0 : zerosToEndOfPage(log, difference, at);
      if (difference >= 0 && zeros == 0) {
        return OptionalLong.of(at + difference);
      }
      at += difference < 0 ? length : difference + zeros;
    }
    return OptionalLong.empty();
  }

  /**
   * Returns how many bytes are left of the page that an index lies in, if all of them are zeros.
   */
  private static int zerosToEndOfPage(ByteBuffer log, int index, long position) {
    int page = PAGE_LENGTH - (int) ((position + index) % PAGE_LENGTH);
    int length = Math.min(page, log.limit() - index);
    for (int i = index; i < index + length; i++) {
      if (log.get(i) != 0) {
        return 0;
      }
    }
    return length;
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
