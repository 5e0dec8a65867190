package io.strata.kafka.layout;

/**
 * A slot: the durable record of one segment.
 *
 * <pre>
 *          0       1       2       3       4       5       6       7
 *         +-------+-------+-------+-------+-------+-------+-------+-------+
 *       0 | state                                                         |
 *         +---------------------------------------------------------------+
 *       8 | generation                                                    |
 *         +---------------------------------------------------------------+
 *      16 | committed length                                              |
 *         +---------------------------------------------------------------+
 *      24 | extents in use                                                |
 *         +---------------------------------------------------------------+
 *      32 | flags                                                         |
 *         +---------------------------------------------------------------+
 *      40 | body check                                                    |
 *         +---------------------------------------------------------------+
 *      48 | truncations                                                   |
 *         +---------------------------------------------------------------+
 *      56 | clean length                                                  |
 *         +===============================================================+
 *      64 | directory id                                                  |
 *         +---------------------------------------------------------------+
 *      80 | created                                                       |
 *         +-------------------------------+-------------------------------+
 *      88 | path length                   | reserved                      |
 *         +-------------------------------+-------------------------------+
 *      96 | path                                                          |
 *         +---------------------------------------------------------------+
 *     416 | extents                                                       |
 *         +---------------------------------------------------------------+
 *    1024
 * </pre>
 *
 * <p>The first line (to 64) and the extents are {@link CheckedWord}s; the words of the first line
 * have the pool's salt, the extents one of the slot's generation too. The body (from 64 to 416) is
 * immutable while the slot is live and covered by the body check.
 *
 * <p>Commit rules, each step persisted before the next:
 *
 * <ol>
 *   <li>allocate: body, and zeros instead of extents; then generation (one more than before), body
 *       check, zeros in the lengths, extents in use, truncations and flags; then state {@link
 *       #STATE_LIVE}
 *   <li>grow: extent entry; then extents in use
 *   <li>append: the bytes in the extents; then committed length
 *   <li>destage: the bytes from the clean length on in the log file, forced; then clean length
 *   <li>truncate: a lower clean length, if need be; the log file; then truncations (one more) and
 *       committed length; then extents in use; then, where a power failure undoes what was not
 *       forced, zeros instead of the dropped extents, all of this forced, and zeros instead of the
 *       bytes behind the committed length
 *   <li>evict a part: extents in use and truncations (one more); then, where a power failure undoes
 *       what was not forced, that forced, and zeros instead of the dropped extents, forced
 *   <li>delete: state {@link #STATE_DELETING}, from where on the slot has no bytes, whatever its
 *       other words say; the log file is unlinked; then state {@link #STATE_FREE}
 * </ol>
 */
public final class SlotLayout {
  /** Position of the slot table. */
  public static final long TABLE = 12288;

  /** Bytes of a slot. */
  public static final int SLOT_LENGTH = 1024;

  /** Bytes of the first line. */
  public static final int LINE_LENGTH = 64;

  /** 8 bytes: one of the {@code STATE_} codes. */
  public static final int STATE_OFFSET = 0;

  /** 8 bytes: how often the slot has been allocated. */
  public static final int GENERATION_OFFSET = 8;

  /** 8 bytes: bytes of the segment that are whole in the pool. */
  public static final int COMMITTED_LENGTH_OFFSET = 16;

  /** 8 bytes: which extents are in use, and for what; see {@link #extentsInUse}. */
  public static final int EXTENTS_IN_USE_OFFSET = 24;

  /** 8 bytes: a sum of the {@code FLAG_} bits. */
  public static final int FLAGS_OFFSET = 32;

  /** 8 bytes: CRC-32C of the generation and the body. */
  public static final int BODY_CHECK_OFFSET = 40;

  /** 8 bytes: how often extents may have been taken from this generation. */
  public static final int TRUNCATIONS_OFFSET = 48;

  /** 8 bytes: so many of the segment's first bytes are durable in the log file too. */
  public static final int CLEAN_LENGTH_OFFSET = 56;

  /** 16 bytes: UUID of the log directory, its more significant word first. */
  public static final int DIRECTORY_ID_OFFSET = 64;

  /** Bytes of the UUID. */
  public static final int DIRECTORY_ID_LENGTH = 16;

  /** 8 bytes: creation time in milliseconds since the epoch. */
  public static final int CREATED_OFFSET = 80;

  /** 4 bytes: bytes used of the path. */
  public static final int PATH_LENGTH_OFFSET = 88;

  /** 4 bytes: zeros. */
  public static final int RESERVED_OFFSET = 92;

  /** 320 bytes: the path relative to the log directory, in UTF-8, zeros behind it. */
  public static final int PATH_OFFSET = 96;

  /** Bytes there are for the path. */
  public static final int PATH_LENGTH = 320;

  /** 76 words of 8 bytes: a ring of values as {@link #extentValue} makes them. */
  public static final int EXTENTS_OFFSET = 416;

  /** Bytes of the extents. */
  public static final int EXTENTS_LENGTH = 608;

  /** The largest number of extents in use. */
  public static final int MAX_EXTENTS = EXTENTS_LENGTH / 8;

  /** The largest offset that extents can begin at: 4 GiB - 1. */
  public static final long MAX_START = (1L << 32) - 1;

  /** The slot holds nothing: {@code FREE} in ASCII. */
  public static final long STATE_FREE = 0x45455246L;

  /** The slot holds a segment: {@code LIVE} in ASCII. */
  public static final long STATE_LIVE = 0x4556494CL;

  /** The slot's segment is being deleted: {@code DELE} in ASCII. */
  public static final long STATE_DELETING = 0x454C4544L;

  /** The log file's directory entry is durable. */
  public static final int FLAG_NAME_DURABLE = 1;

  /** The bytes from the committed length on are in the log file. */
  public static final int FLAG_SPILLED = 2;

  /** Flag: the log file was missing when the pool was last opened. */
  public static final int FLAG_ORPHANED = 4;

  /** Another copy of a segment whose log file leads elsewhere, or does not lead here yet. */
  public static final int FLAG_COPY = 8;

  /** The log file was found in another log directory than the slot names. */
  public static final int FLAG_MOVED = 16;

  /** All flags that this version knows. */
  public static final int ALL_FLAGS =
      FLAG_NAME_DURABLE | FLAG_SPILLED | FLAG_ORPHANED | FLAG_COPY | FLAG_MOVED;

  /**
   * The last generation of a slot: it is not allocated any more. No pool ever comes near; what is
   * above is damage, and leaves space for what a repair skips.
   */
  public static final long LAST_GENERATION = 1L << 47;

  /**
   * How many generations are skipped when a slot is freed whose segment is not in its log file: a
   * log file with an earlier one's tag has lost records. The generations of repaired slots begin so
   * far beyond the highest generation seen: a damaged slot's own, which cannot be read, is not
   * expected to be that far ahead of all the others, unless it was repaired before ({@link
   * #generationAt}).
   */
  public static final long GENERATIONS_SKIPPED = 1L << 24;

  private static final long FIRST_REPAIR_MILLIS = 1_767_225_600_000L;
  private static final long REPAIR_MILLIS = 600_000;

  /**
   * Returns the least generation for slots that are repaired at a time: it rises by {@link
   * #GENERATIONS_SKIPPED} each ten minutes since 2026, and is 0 for a clock before that. A slot
   * that was repaired earlier, and used since, is below it.
   */
  public static long generationAt(long millis) {
    long steps = Math.max(0, (millis - FIRST_REPAIR_MILLIS) / REPAIR_MILLIS);
    return Math.min(steps, LAST_GENERATION / GENERATIONS_SKIPPED) * GENERATIONS_SKIPPED;
  }

  /**
   * Returns whether what a slot had has been discarded since a tag was given to a log file: no slot
   * is allocated so often in between.
   *
   * @param tagged the tag's generation
   * @param now the slot's
   */
  public static boolean isDiscarded(long tagged, long now) {
    return now - tagged >= GENERATIONS_SKIPPED / 2;
  }

  private SlotLayout() {}

  /** Position of slot {@code index}, which is from 0. */
  public static long slotPosition(int index) {
    return TABLE + (long) index * SLOT_LENGTH;
  }

  /**
   * The value of the word that says which extents are in use. One store takes some from either end.
   *
   * <pre>
   *    47                          16 15           8 7            0
   *   +------------------------------+--------------+--------------+
   *   |            start             | first entry  |    count     |
   *   +------------------------------+--------------+--------------+
   * </pre>
   *
   * @param start the offset in the log file of the first byte of the first extent, at most {@link
   *     #MAX_START}; the bytes below it are in the log file alone
   * @param firstEntry the first extent's place in the ring, from 0
   * @param count how many are in use
   */
  public static long extentsInUse(long start, int firstEntry, int count) {
    return (start << 16) | ((long) firstEntry << 8) | count;
  }

  /** The offset in the log file that the extents in use begin at. */
  public static long startOf(long extentsInUse) {
    return extentsInUse >>> 16;
  }

  /** The place in the ring of the first extent in use. */
  public static int firstEntryOf(long extentsInUse) {
    return (int) (extentsInUse >>> 8) & 0xFF;
  }

  /** Returns how many extents are in use. */
  public static int countOf(long extentsInUse) {
    return (int) extentsInUse & 0xFF;
  }

  /**
   * The value of an extent's word. It is never 0, so that a zeroed word is no extent.
   *
   * @param block where the extent begins, in units of the smallest extent from the data's start
   * @param order its length is 2^order times the smallest extent
   */
  public static long extentValue(long block, int order) {
    return (block << 8) | (order + 1);
  }

  /** Returns where the extent begins, in units of the smallest extent from the data's start. */
  public static long extentBlock(long value) {
    return value >>> 8;
  }

  /** The extent's order; -1 or above the largest for a value that is no extent. */
  public static int extentOrder(long value) {
    return (int) (value & 0xFF) - 1;
  }

  /** The salt of a slot's extents. */
  public static int extentSalt(int poolSalt, long generation) {
    return poolSalt ^ (int) (generation & 0xFFFF);
  }
}
