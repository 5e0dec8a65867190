package io.strata.kafka.migration.remote;

import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.Optional;

/**
 * What Kafka keeps for us with each remote segment (its custom metadata): where it was copied to,
 * so that a broker that does not find it can tell why. 33 bytes: a version, the store's id, the
 * directory's id.
 *
 * @param storeId the store's id
 * @param directoryId the id of the directory that it was copied to; it may have moved since
 */
record StoreTrace(String storeId, String directoryId) {

  private static final byte VERSION = 1;
  private static final int ID_BYTES = 16;

  byte[] bytes() {
    return ByteBuffer.allocate(1 + 2 * ID_BYTES)
        .put(VERSION)
        .put(Base64.getUrlDecoder().decode(storeId))
        .put(Base64.getUrlDecoder().decode(directoryId))
        .array();
  }

  /** Empty if it is not ours, or of a later version. */
  static Optional<StoreTrace> read(byte[] bytes) {
    if (bytes.length != 1 + 2 * ID_BYTES || bytes[0] != VERSION) {
      return Optional.empty();
    }
    ByteBuffer buffer = ByteBuffer.wrap(bytes, 1, 2 * ID_BYTES);
    return Optional.of(new StoreTrace(id(buffer), id(buffer)));
  }

  private static String id(ByteBuffer buffer) {
    byte[] id = new byte[ID_BYTES];
    buffer.get(id);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(id);
  }
}
