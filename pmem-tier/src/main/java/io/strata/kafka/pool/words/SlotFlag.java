package io.strata.kafka.pool.words;

import io.strata.kafka.layout.SlotLayout;

/** A durable fact about a slot's segment. */
public enum SlotFlag {
  /**
   * The log file's directory entry is durable: a log file that is missing was removed by something
   * else.
   */
  NAME_DURABLE(SlotLayout.FLAG_NAME_DURABLE),
  /** The bytes from the committed length on are in the log file. */
  SPILLED(SlotLayout.FLAG_SPILLED),
  /**
   * The log file was missing at a start of a broker that then ran for a while, or is one of a
   * replica that Kafka is deleting; if it is missing at the next start, the slot is freed.
   */
  ORPHANED(SlotLayout.FLAG_ORPHANED),
  /**
   * One of the two slots of a segment that is being moved. Nothing is lost with it while the log
   * file's tag does not name it.
   */
  COPY(SlotLayout.FLAG_COPY),
  /**
   * The partition was moved by hand, and its log file was found in another log directory than the
   * slot names: where it is missing, that one may not be mounted.
   */
  MOVED(SlotLayout.FLAG_MOVED);

  private final int bit;

  SlotFlag(int bit) {
    this.bit = bit;
  }

  public int bit() {
    return bit;
  }
}
