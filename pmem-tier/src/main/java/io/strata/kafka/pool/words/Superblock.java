package io.strata.kafka.pool.words;

import static io.strata.kafka.layout.SuperblockLayout.*;

import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.layout.SuperblockLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.zip.CRC32C;

/** The content of a pool's superblock; see {@link SuperblockLayout}. Immutable. */
public record Superblock(
    UUID poolId,
    long poolSize,
    int slotCount,
    long dataPosition,
    long dataSize,
    long createdAtMillis,
    PoolOwner owner,
    boolean hadDax,
    int sequence) {

  /** A copy of the superblock that cannot be used: what was found, and what was expected. */
  static final class UnusableException extends Exception {
    private static final long serialVersionUID = 1L;
    private final PoolException.Kind kind;

    UnusableException(PoolException.Kind kind, String reason) {
      super(reason);
      this.kind = kind;
    }

    /** NOT_A_POOL, NEWER_VERSION or CORRUPT. */
    PoolException.Kind kind() {
      return kind;
    }
  }

  /** The superblock of a new pool. */
  public static Superblock create(
      UUID poolId, long poolSize, int slotCount, long createdAtMillis, PoolOwner owner) {
    long data = SuperblockLayout.dataPosition(slotCount);
    return new Superblock(
        poolId,
        poolSize,
        slotCount,
        data,
        dataSize(poolSize, data),
        createdAtMillis,
        owner,
        false,
        1);
  }

  public Superblock withSize(long newSize) {
    return with(newSize, owner, hadDax);
  }

  /**
   * With who opens it.
   *
   * @param dax whether persisted bytes survive a power failure there; once they did, that is kept
   */
  public Superblock openedBy(PoolOwner newOwner, boolean dax) {
    return with(poolSize, newOwner, hadDax || dax);
  }

  private Superblock with(long newSize, PoolOwner newOwner, boolean dax) {
    return new Superblock(
        poolId,
        newSize,
        slotCount,
        dataPosition,
        dataSize(newSize, dataPosition),
        createdAtMillis,
        newOwner,
        dax,
        sequence + 1);
  }

  /** Returns the salt of the checked words of this pool. */
  public int salt() {
    return (int) (poolId.getLeastSignificantBits() & 0xFFFF);
  }

  /** Blocks of the smallest extent's length. */
  public long blocks() {
    return dataSize / SMALLEST_EXTENT;
  }

  private static long dataSize(long poolSize, long dataPosition) {
    return (poolSize - dataPosition) / SMALLEST_EXTENT * SMALLEST_EXTENT;
  }

  /** Returns one whole copy, ready to be stored. */
  ByteBuffer encode() {
    ByteBuffer copy = ByteBuffer.allocate(COPY_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    copy.putLong(MAGIC_OFFSET, MAGIC);
    copy.putInt(VERSION_OFFSET, VERSION);
    copy.putInt(HEADER_LENGTH_OFFSET, HEADER_LENGTH);
    copy.putLong(POOL_ID_OFFSET, poolId.getMostSignificantBits());
    copy.putLong(POOL_ID_OFFSET + 8, poolId.getLeastSignificantBits());
    copy.putLong(POOL_SIZE_OFFSET, poolSize);
    copy.putLong(SLOT_COUNT_OFFSET, slotCount);
    copy.putLong(SLOT_TABLE_OFFSET, SlotLayout.TABLE);
    copy.putLong(DATA_OFFSET, dataPosition);
    copy.putLong(DATA_SIZE_OFFSET, dataSize);
    copy.putInt(SMALLEST_EXTENT_OFFSET, SMALLEST_EXTENT);
    copy.putInt(LARGEST_EXTENT_OFFSET, LARGEST_EXTENT);
    copy.putLong(CREATED_OFFSET, createdAtMillis);
    copy.putInt(
        FLAGS_OFFSET,
        (owner.brokerId().isPresent() ? HAS_BROKER_ID : 0)
            | (owner.clusterId().isPresent() ? HAS_CLUSTER_ID : 0)
            | (hadDax ? HAD_DAX : 0));
    copy.putInt(BROKER_ID_OFFSET, owner.brokerId().orElse(0));
    byte[] cluster = owner.clusterId().orElse("").getBytes(StandardCharsets.UTF_8);
    copy.putInt(CLUSTER_ID_LENGTH_OFFSET, cluster.length);
    copy.put(CLUSTER_ID_OFFSET, cluster);
    copy.putInt(SEQUENCE_OFFSET, sequence);
    copy.putInt(CHECKSUM_OFFSET, checksum(copy, CHECKSUM_OFFSET));
    return copy;
  }

  /**
   * Reads one copy.
   *
   * @param copy at least {@link SuperblockLayout#HEADER_LENGTH} bytes of it, little-endian
   */
  static Superblock decode(ByteBuffer copy) throws UnusableException {
    long magic = copy.getLong(MAGIC_OFFSET);
    if (magic != MAGIC) {
      throw new UnusableException(
          PoolException.Kind.NOT_A_POOL,
          String.format("found magic 0x%016x, expected 0x%016x", magic, MAGIC));
    }
    int length = copy.getInt(HEADER_LENGTH_OFFSET);
    if (length < HEADER_LENGTH_OFFSET + 8 || length > copy.limit() || length % 4 != 0) {
      throw corrupt("found header length " + length + ", expected " + HEADER_LENGTH);
    }
    int found = copy.getInt(length - 4);
    int expected = checksum(copy, length - 4);
    if (found != expected) {
      throw corrupt(String.format("found checksum 0x%08x, expected 0x%08x", found, expected));
    }
    int version = copy.getInt(VERSION_OFFSET);
    if (version > VERSION) {
      throw new UnusableException(
          PoolException.Kind.NEWER_VERSION,
          "found layout version %d, expected at most %d".formatted(version, VERSION));
    }
    if (version != VERSION || length != HEADER_LENGTH) {
      throw corrupt(
          "found layout version %s with header length %s, expected %s with %s"
              .formatted(version, length, VERSION, HEADER_LENGTH));
    }
    return decodeVersion1(copy);
  }

  private static Superblock decodeVersion1(ByteBuffer copy) throws UnusableException {
    long slotCount = copy.getLong(SLOT_COUNT_OFFSET);
    long poolSize = copy.getLong(POOL_SIZE_OFFSET);
    int flags = copy.getInt(FLAGS_OFFSET);
    int clusterLength = copy.getInt(CLUSTER_ID_LENGTH_OFFSET);
    if (slotCount < 1 || slotCount > PoolSpec.MAX_SLOTS) {
      throw corrupt("found " + slotCount + " slots, expected 1 to " + PoolSpec.MAX_SLOTS);
    }
    if (clusterLength < 0 || clusterLength > CLUSTER_ID_LENGTH) {
      throw corrupt(
          "found a cluster id of " + clusterLength + " bytes, expected 0 to " + CLUSTER_ID_LENGTH);
    }
    byte[] cluster = new byte[clusterLength];
    copy.get(CLUSTER_ID_OFFSET, cluster);
    PoolOwner owner =
        new PoolOwner(
            (flags & HAS_BROKER_ID) != 0
                ? OptionalInt.of(copy.getInt(BROKER_ID_OFFSET))
                : OptionalInt.empty(),
            (flags & HAS_CLUSTER_ID) != 0
                ? Optional.of(new String(cluster, StandardCharsets.UTF_8))
                : Optional.empty());
    Superblock superblock =
        new Superblock(
            new UUID(copy.getLong(POOL_ID_OFFSET), copy.getLong(POOL_ID_OFFSET + 8)),
            poolSize,
            (int) slotCount,
            copy.getLong(DATA_OFFSET),
            copy.getLong(DATA_SIZE_OFFSET),
            copy.getLong(CREATED_OFFSET),
            owner,
            (flags & HAD_DAX) != 0,
            copy.getInt(SEQUENCE_OFFSET));
    // All else follows from the size and the slot count: compare with what this version writes.
    long data = SuperblockLayout.dataPosition((int) slotCount);
    if (poolSize < data + SMALLEST_EXTENT
        || dataSize(poolSize, data) / SMALLEST_EXTENT > Integer.MAX_VALUE
        || !superblock.encode().slice(0, HEADER_LENGTH).equals(copy.slice(0, HEADER_LENGTH))
        || superblock.dataPosition != data
        || superblock.dataSize != dataSize(poolSize, data)) {
      throw corrupt("found sizes and positions that contradict each other: " + superblock);
    }
    return superblock;
  }

  private static UnusableException corrupt(String message) {
    return new UnusableException(PoolException.Kind.CORRUPT, message);
  }

  private static int checksum(ByteBuffer copy, int length) {
    CRC32C crc = new CRC32C();
    crc.update(copy.slice(0, length));
    return (int) crc.getValue();
  }
}
