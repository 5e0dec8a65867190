package io.strata.kafka.migration.remote.store.layout;

/**
 * One file of a segment.
 *
 * @param type what it is; its name follows from that
 * @param bytes its length
 * @param checksum its CRC-32C
 */
public record StoredObject(ObjectType type, long bytes, int checksum) {

  public StoredObject {
    if (bytes < 0) {
      throw new IllegalArgumentException(type + ": found " + bytes + " bytes, expected 0 or more");
    }
  }
}
