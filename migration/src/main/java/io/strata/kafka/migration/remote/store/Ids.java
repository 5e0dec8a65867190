package io.strata.kafka.migration.remote.store;

import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.UUID;

/**
 * Random ids in the form in which Kafka prints its own.
 *
 * <p>Thread safety: stateless.
 */
final class Ids {
  private Ids() {}

  static String random() {
    UUID uuid = UUID.randomUUID();
    byte[] bytes =
        ByteBuffer.allocate(16)
            .putLong(uuid.getMostSignificantBits())
            .putLong(uuid.getLeastSignificantBits())
            .array();
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }
}
