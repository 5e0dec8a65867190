package io.strata.kafka.layout;

/**
 * The header of a chunk of the remote tier in a cache region, by which a later process finds it.
 * The chunk's bytes follow at once.
 *
 * <pre>
 *          0       1       2       3       4       5       6       7
 *         +-------+-------+-------+-------+-------+-------+-------+-------+
 *       0 | magic                                                         |
 *         +---------------------------------------------------------------+
 *       8 | id high                                                       |
 *         +---------------------------------------------------------------+
 *      16 | id low                                                        |
 *         +-------------------------------+-------------------------------+
 *      24 | number                        | chunk length                  |
 *         +-------------------------------+-------------------------------+
 *      32 | sequence                                                      |
 *         +---------------------------------------------------------------+
 *      40 | generation                                                    |
 *         +---------------------------------------------------------------+
 *      48 | position                                                      |
 *         +-------------------------------+-------------------------------+
 *      56 | reserved                      | checksum                      |
 *         +-------------------------------+-------------------------------+
 *      64
 * </pre>
 *
 * <p>Little-endian. There is no commit: header and bytes reach the medium in any order, in part, or
 * not at all, and are never forced. Who finds a header checks it by its checksum, and the chunk by
 * the one that the store has of it. A header begins where a page does; the magic of one that is
 * given up becomes zero.
 */
public final class ChunkHeaderLayout {
  /** {@code STRACHNK} in ASCII, read as a little-endian word. */
  public static final long MAGIC = 0x4B4E484341525453L;

  /** 8 bytes: {@link #MAGIC}. */
  public static final int MAGIC_OFFSET = 0;

  /** 8 bytes: the remote segment's id, its first half. */
  public static final int ID_HIGH_OFFSET = 8;

  /** 8 bytes: the remote segment's id, its second half. */
  public static final int ID_LOW_OFFSET = 16;

  /** 4 bytes: which chunk of the segment, from 0. */
  public static final int NUMBER_OFFSET = 24;

  /** 4 bytes: how many bytes the chunk has. */
  public static final int CHUNK_LENGTH_OFFSET = 28;

  /** 8 bytes: one more for each chunk that is stored. */
  public static final int SEQUENCE_OFFSET = 32;

  /** 8 bytes: the generation of the region's slot. */
  public static final int GENERATION_OFFSET = 40;

  /** 8 bytes: where the header lies in the pool. */
  public static final int POSITION_OFFSET = 48;

  /** 4 bytes: zeros. */
  public static final int RESERVED_OFFSET = 56;

  /** 4 bytes: CRC-32C of all bytes before it. */
  public static final int CHECKSUM_OFFSET = 60;

  /** Length of a header. */
  public static final int LENGTH = 64;

  /** A chunk with its header takes whole pages of this length, from the region's start. */
  public static final int PAGE = 4096;

  private ChunkHeaderLayout() {}
}
