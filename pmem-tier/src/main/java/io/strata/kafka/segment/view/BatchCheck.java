package io.strata.kafka.segment.view;

import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/**
 * Checks that bytes are a sequence of whole record batches whose checksums fit, as Kafka's log
 * format has them: magic 2 with a CRC-32C from the attributes on, magic 0 and 1 with a CRC-32 from
 * the magic on (Kafka's documentation, "Message Format").
 *
 * <p>Thread safety: none.
 */
public final class BatchCheck {

  /** Up to the checksum of magic 2, which is the last that is looked at. */
  private static final int HEADER_LENGTH = 21;

  private static final int SIZE_OFFSET = 8;
  private static final int SIZE_END = 12;
  private static final int OLD_CRC_OFFSET = 12;
  private static final int MAGIC_OFFSET = 16;
  private static final int CRC_OFFSET = 17;
  private static final int NEWEST_MAGIC = 2;

  private final ByteBuffer header = ByteBuffer.allocate(HEADER_LENGTH);
  private final CRC32C newCrc = new CRC32C();
  private final CRC32 oldCrc = new CRC32();

  private Checksum crc = newCrc;
  private long expected;
  private long batchStart;
  private long position;

  /** Bytes of the current batch that are to come; only when its header is whole. */
  private long remaining;

  private Optional<String> problem = Optional.empty();

  /**
   * Begins at a batch.
   *
   * @param start its position, for messages
   */
  public BatchCheck(long start) {
    batchStart = start;
    position = start;
  }

  /** Takes the next bytes, all of them. */
  public void update(ByteBuffer bytes) {
    while (bytes.hasRemaining() && problem.isEmpty()) {
      int before = bytes.remaining();
      if (header.hasRemaining()) {
        takeHeader(bytes);
      } else {
        takeBody(bytes);
      }
      position += before - bytes.remaining();
      if (!header.hasRemaining() && remaining == 0) {
        endBatch();
      }
    }
    bytes.position(bytes.limit());
  }

  private void takeHeader(ByteBuffer bytes) {
    int length = Math.min(header.remaining(), bytes.remaining());
    int end = bytes.limit();
    header.put(bytes.limit(bytes.position() + length));
    bytes.limit(end);
    if (!header.hasRemaining()) {
      beginBatch();
    }
  }

  private void beginBatch() {
    int size = header.getInt(SIZE_OFFSET);
    int magic = header.get(MAGIC_OFFSET);
    remaining = (long) SIZE_END + size - HEADER_LENGTH;
    if (remaining < 0 || magic < 0 || magic > NEWEST_MAGIC) {
      found("a batch of size " + size + " and magic " + magic, "a whole one of magic 0 to 2");
      return;
    }
    boolean old = magic < NEWEST_MAGIC;
    crc = old ? oldCrc : newCrc;
    crc.reset();
    expected = Integer.toUnsignedLong(header.getInt(old ? OLD_CRC_OFFSET : CRC_OFFSET));
    if (old) {
      crc.update(header.array(), MAGIC_OFFSET, HEADER_LENGTH - MAGIC_OFFSET);
    }
  }

  private void takeBody(ByteBuffer bytes) {
    int length = (int) Math.min(remaining, bytes.remaining());
    int end = bytes.limit();
    crc.update(bytes.limit(bytes.position() + length));
    bytes.limit(end);
    remaining -= length;
  }

  private void endBatch() {
    if (problem.isEmpty() && crc.getValue() != expected) {
      found(
          "a batch whose checksum is 0x" + Long.toHexString(crc.getValue()),
          "0x" + Long.toHexString(expected));
    }
    if (problem.isEmpty()) {
      batchStart = position;
      header.clear();
    }
  }

  private void found(String what, String instead) {
    problem = Optional.of("found at position " + batchStart + " " + what + ", expected " + instead);
  }

  /** Returns where the batches end that are whole and whose checksums fit. */
  public long validEnd() {
    return batchStart;
  }

  /** Returns what is wrong with the batches so far; one that has just begun may be whole yet. */
  public Optional<String> problemSoFar() {
    return problem;
  }

  /** Returns what is wrong, once all bytes have been taken; empty when nothing is. */
  public Optional<String> problem() {
    if (problem.isEmpty() && position > batchStart) {
      found((position - batchStart) + " bytes of a batch and then the end", "a whole batch");
    }
    return problem;
  }
}
