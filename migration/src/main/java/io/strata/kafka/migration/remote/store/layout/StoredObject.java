package io.strata.kafka.migration.remote.store.layout;

/**
 * One file of a segment.
 *
 * @param checksum its CRC-32C
 */
public record StoredObject(ObjectType type, long bytes, int checksum) {

  public StoredObject {
    if (bytes < 0) {
      throw new IllegalArgumentException(type + ": found " + bytes + " bytes, expected 0 or more");
    }
  }

  /**
   * The content of a segment's directory in the store, by the names that Kafka's own tools know.
   */
  public enum ObjectType {
    LOG(".log"),
    OFFSET_INDEX(".index"),
    TIME_INDEX(".timeindex"),
    /** The index of aborted transactions; missing where there is none. */
    TRANSACTION_INDEX(".txnindex"),
    /** The snapshot of the producers' state at the segment's end. */
    PRODUCER_SNAPSHOT(".snapshot"),
    LEADER_EPOCHS("leader-epoch-checkpoint");

    private final String suffix;

    ObjectType(String suffix) {
      this.suffix = suffix;
    }

    public String fileName(SegmentKey key) {
      return this == LEADER_EPOCHS ? suffix : StoreNames.offset(key.startOffset()) + suffix;
    }
  }
}
