package io.strata.kafka.pool.words;

import io.strata.kafka.layout.SuperblockLayout;
import io.strata.kafka.memory.MemoryType;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A pool to be created.
 *
 * @param path the file; it must not exist
 * @param type how its bytes will be reached
 * @param size of the file in bytes, at least 4 MiB
 * @param slotCount segments that it can hold at a time: 1 to {@link #MAX_SLOTS}, each 1 KiB of the
 *     pool; it cannot be changed later
 * @param owner whose it is; what is absent is bound when a broker first opens it
 */
public record PoolSpec(Path path, MemoryType type, long size, int slotCount, PoolOwner owner) {

  /** The largest slot count. */
  public static final int MAX_SLOTS = 1 << 24;

  /** The largest pool: 2^31 blocks of 64 KiB, 128 TiB. */
  private static final long MAX_SIZE = (long) Integer.MAX_VALUE * SuperblockLayout.SMALLEST_EXTENT;

  /** A pool with one slot per MiB, without an owner yet. */
  public static PoolSpec of(Path path, MemoryType type, long size) {
    long slots = Math.min(MAX_SLOTS, Math.max(1, size >> 20));
    return new PoolSpec(path, type, size, (int) slots, PoolOwner.ANY);
  }

  /** The same with another slot count. */
  public PoolSpec withSlotCount(int count) {
    return new PoolSpec(path, type, size, count, owner);
  }

  /** The same with an owner. */
  public PoolSpec withOwner(PoolOwner newOwner) {
    return new PoolSpec(path, type, size, slotCount, newOwner);
  }

  /**
   * Checks size, slots and owner.
   *
   * @throws PoolException of kind {@link PoolException.Kind#INVALID_SPEC}
   */
  public void validate() throws PoolException {
    requireSize(path, size);
    if (slotCount < 1 || slotCount > MAX_SLOTS) {
      throw invalid(
          "found slot count %s, expected 1 to %s: choose another slot count"
              .formatted(slotCount, MAX_SLOTS));
    }
    long data = SuperblockLayout.dataPosition(slotCount);
    if (data + SuperblockLayout.SMALLEST_EXTENT > size) {
      throw invalid(
          """
          found size %s with %s slots, which leave no space for data before %s: choose a larger \
          size or fewer slots\
          """
              .formatted(size, slotCount, data));
    }
    if (owner.brokerId().isPresent() && owner.brokerId().getAsInt() < 0) {
      throw invalid(
          "found broker id %s, expected 0 or more: give the broker's node.id"
              .formatted(owner.brokerId().getAsInt()));
    }
    Optional<Integer> length =
        owner.clusterId().map(id -> id.getBytes(StandardCharsets.UTF_8).length);
    if (length.isPresent()
        && (length.get() < 1 || length.get() > SuperblockLayout.CLUSTER_ID_LENGTH)) {
      throw invalid(
          """
          found a cluster id of %s bytes, expected 1 to %s: give the id that meta.properties holds\
          """
              .formatted(length.get(), SuperblockLayout.CLUSTER_ID_LENGTH));
    }
  }

  /**
   * Checks a size.
   *
   * @throws PoolException of kind {@link PoolException.Kind#INVALID_SPEC}
   */
  public static void requireSize(Path path, long size) throws PoolException {
    if (size < SuperblockLayout.MINIMUM_POOL_SIZE || size > MAX_SIZE) {
      throw new PoolException(
          PoolException.Kind.INVALID_SPEC,
          path,
          "found size %s, expected %s to %s bytes: choose another size"
              .formatted(size, SuperblockLayout.MINIMUM_POOL_SIZE, MAX_SIZE));
    }
  }

  private PoolException invalid(String text) {
    return new PoolException(PoolException.Kind.INVALID_SPEC, path, text);
  }
}
