package io.strata.kafka.layout;

/**
 * The superblock: what a pool is, whose it is, and where its parts lie.
 *
 * <p>A pool begins with two copies of it, at {@link #FIRST_COPY} and {@link #SECOND_COPY}. Either
 * is enough to read the pool; of two valid copies the one with the higher sequence counts.
 *
 * <pre>
 *          0       1       2       3       4       5       6       7
 *         +-------+-------+-------+-------+-------+-------+-------+-------+
 *       0 | magic                                                         |
 *         +---------------------------------------------------------------+
 *       8 | version                       | header length                 |
 *         +-------------------------------+-------------------------------+
 *      16 | pool id                                                       |
 *         +---------------------------------------------------------------+
 *      32 | pool size                                                     |
 *         +---------------------------------------------------------------+
 *      40 | slot count                                                    |
 *         +---------------------------------------------------------------+
 *      48 | slot table                                                    |
 *         +---------------------------------------------------------------+
 *      56 | data                                                          |
 *         +---------------------------------------------------------------+
 *      64 | data size                                                     |
 *         +---------------------------------------------------------------+
 *      72 | smallest extent               | largest extent                |
 *         +-------------------------------+-------------------------------+
 *      80 | created                                                       |
 *         +---------------------------------------------------------------+
 *      88 | flags                         | broker id                     |
 *         +-------------------------------+-------------------------------+
 *      96 | cluster id length             | sequence                      |
 *         +-------------------------------+-------------------------------+
 *     104 | cluster id                                                    |
 *         +---------------------------------------------------------------+
 *     168 | reserved                                                      |
 *         +-------------------------------+-------------------------------+
 *     248 | reserved tail                 | checksum                      |
 *         +-------------------------------+-------------------------------+
 *     256
 * </pre>
 *
 * <p>Commit: a copy is stored, persisted and forced before the other one is touched, so one of the
 * two is whole at any moment. The checksum is the CRC-32C of the bytes before it. The magic, the
 * version and the header length lie where they do in every version, and a header ends with its
 * checksum, so that an older reader can distinguish a newer pool from a broken one.
 */
public final class SuperblockLayout {
  /** Position of the first copy. */
  public static final long FIRST_COPY = 0;

  /** Position of the second copy. */
  public static final long SECOND_COPY = 4096;

  /** Bytes that belong to one copy; those behind its header are zero. */
  public static final int COPY_LENGTH = 4096;

  /** The version that this jar writes, and the newest that it reads. */
  public static final int VERSION = 1;

  /** {@code STRATAPL} in ASCII, read as a little-endian word. */
  public static final long MAGIC = 0x4C50415441525453L;

  /** 8 bytes: {@link #MAGIC}. */
  public static final int MAGIC_OFFSET = 0;

  /** 4 bytes: the layout version. */
  public static final int VERSION_OFFSET = 8;

  /** 4 bytes: length of the header, its checksum included. */
  public static final int HEADER_LENGTH_OFFSET = 12;

  /** 16 bytes: the pool's UUID, its more significant word first. */
  public static final int POOL_ID_OFFSET = 16;

  /** Bytes of the UUID. */
  public static final int POOL_ID_LENGTH = 16;

  /** 8 bytes: length of the pool file in bytes. */
  public static final int POOL_SIZE_OFFSET = 32;

  /** 8 bytes: number of slots. */
  public static final int SLOT_COUNT_OFFSET = 40;

  /** 8 bytes: position of the slot table. */
  public static final int SLOT_TABLE_OFFSET = 48;

  /** 8 bytes: position of the data, a multiple of {@link #DATA_ALIGNMENT}. */
  public static final int DATA_OFFSET = 56;

  /** 8 bytes: length of the data, a multiple of the smallest extent. */
  public static final int DATA_SIZE_OFFSET = 64;

  /** 4 bytes: bytes of the smallest extent. */
  public static final int SMALLEST_EXTENT_OFFSET = 72;

  /** 4 bytes: bytes of the largest extent. */
  public static final int LARGEST_EXTENT_OFFSET = 76;

  /** 8 bytes: creation time in milliseconds since the epoch. */
  public static final int CREATED_OFFSET = 80;

  /** 4 bytes: a sum of {@link #HAS_BROKER_ID}, {@link #HAS_CLUSTER_ID} and {@link #HAD_DAX}. */
  public static final int FLAGS_OFFSET = 88;

  /** 4 bytes: the broker's id, or 0 without {@link #HAS_BROKER_ID}. */
  public static final int BROKER_ID_OFFSET = 92;

  /** 4 bytes: bytes used of the cluster id. */
  public static final int CLUSTER_ID_LENGTH_OFFSET = 96;

  /** 4 bytes: grows with each change of the superblock. */
  public static final int SEQUENCE_OFFSET = 100;

  /** 64 bytes: the cluster id in UTF-8, zeros behind it. */
  public static final int CLUSTER_ID_OFFSET = 104;

  /** Bytes there are for the cluster id. */
  public static final int CLUSTER_ID_LENGTH = 64;

  /** 80 bytes: zeros. */
  public static final int RESERVED_OFFSET = 168;

  /** Bytes reserved. */
  public static final int RESERVED_LENGTH = 80;

  /** 4 bytes: zeros. */
  public static final int RESERVED_TAIL_OFFSET = 248;

  /** 4 bytes: CRC-32C of all bytes before it. */
  public static final int CHECKSUM_OFFSET = 252;

  /** Length of this version's header. */
  public static final int HEADER_LENGTH = 256;

  /** Flag: the pool belongs to one broker. */
  public static final int HAS_BROKER_ID = 1;

  /** Flag: the pool belongs to one cluster. */
  public static final int HAS_CLUSTER_ID = 2;

  /** Flag: the pool has been used where persisted bytes survive a power failure. */
  public static final int HAD_DAX = 4;

  /** The data begins at a multiple of this: a huge page of x86-64 and AArch64. */
  public static final long DATA_ALIGNMENT = 2L << 20;

  /** Bytes of the smallest extent. */
  public static final int SMALLEST_EXTENT = 64 << 10;

  /** Bytes of the largest extent. */
  public static final int LARGEST_EXTENT = 64 << 20;

  /** The order of the largest extent: it is 2^order times the smallest. */
  public static final int LARGEST_ORDER = 10;

  /** The smallest pool. */
  public static final long MINIMUM_POOL_SIZE = 4L << 20;

  private SuperblockLayout() {}

  /** The position of the data behind a table of {@code slotCount} slots. */
  public static long dataPosition(int slotCount) {
    long end = SlotLayout.TABLE + (long) slotCount * SlotLayout.SLOT_LENGTH;
    return (end + DATA_ALIGNMENT - 1) / DATA_ALIGNMENT * DATA_ALIGNMENT;
  }
}
