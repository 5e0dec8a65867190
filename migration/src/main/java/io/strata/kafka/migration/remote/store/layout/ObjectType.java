package io.strata.kafka.migration.remote.store.layout;

/** The content of a segment's directory in the store, by the names that Kafka's own tools know. */
public enum ObjectType {
  /** The segment itself. */
  LOG(".log"),
  /** The offset index. */
  OFFSET_INDEX(".index"),
  /** The time index. */
  TIME_INDEX(".timeindex"),
  /** The index of aborted transactions; missing where there is none. */
  TRANSACTION_INDEX(".txnindex"),
  /** The snapshot of the producers' state at the segment's end. */
  PRODUCER_SNAPSHOT(".snapshot"),
  /** The leader epochs up to the segment's end. */
  LEADER_EPOCHS("leader-epoch-checkpoint");

  private final String suffix;

  ObjectType(String suffix) {
    this.suffix = suffix;
  }

  public String fileName(SegmentKey key) {
    return this == LEADER_EPOCHS ? suffix : StoreNames.offset(key.startOffset()) + suffix;
  }
}
