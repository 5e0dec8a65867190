package io.strata.kafka.segment;

import io.strata.kafka.segment.view.BatchCheck;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * Finds how far a log file has records that Kafka takes for valid: those of the batches from its
 * beginning on that are whole and have the right checksums.
 */
public final class ValidRecords {

  private static final int SIZE_OFFSET = 8;
  private static final int SIZE_END = 12;
  private static final int MAGIC_OFFSET = 16;
  private static final int LAST_OFFSET_DELTA_OFFSET = 23;
  private static final int HEADER_LENGTH = 27;
  private static final int MAGIC_WITH_DELTA = 2;

  private ValidRecords() {}

  /**
   * Returns the offset behind the last valid record.
   *
   * @param baseOffset what the file's name says: the next offset of a file without a valid batch
   */
  public static long nextOffset(Path file, long baseOffset) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      return nextOffset(channel, check(channel).validEnd(), baseOffset);
    }
  }

  /** Returns the position behind the last valid batch, in bytes. */
  public static long end(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      return check(channel).validEnd();
    }
  }

  /**
   * Returns what is wrong with a file that should have records to its end; empty if nothing is. A
   * hole has zeros, which no batch has.
   */
  public static Optional<String> problem(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      return check(channel).problem();
    }
  }

  private static BatchCheck check(FileChannel file) throws IOException {
    BatchCheck batches = new BatchCheck(0);
    long unused = Copying.pieces(file, 0, file.size(), batches::update);
    return batches;
  }

  private static long nextOffset(FileChannel file, long length, long baseOffset)
      throws IOException {
    ByteBuffer header = ByteBuffer.allocate(HEADER_LENGTH);
    long next = baseOffset;
    for (long at = 0; at < length; ) {
      header.clear();
      while (header.hasRemaining() && file.read(header, at + header.position()) >= 0) {
        // Short reads are allowed; an old batch may be shorter than the header of a new one.
      }
      boolean hasDelta = header.get(MAGIC_OFFSET) >= MAGIC_WITH_DELTA;
      next = header.getLong(0) + (hasDelta ? header.getInt(LAST_OFFSET_DELTA_OFFSET) : 0) + 1;
      at += SIZE_END + header.getInt(SIZE_OFFSET);
    }
    return next;
  }
}
