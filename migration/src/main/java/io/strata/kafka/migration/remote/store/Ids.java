package io.strata.kafka.migration.remote.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.UUID;

/** Random ids in the form in which Kafka prints its own. */
final class Ids {
  private Ids() {}

  static String random() {
    return print(UUID.randomUUID());
  }

  /** The same for the same name. */
  static String of(String name) {
    return print(UUID.nameUUIDFromBytes(name.getBytes(UTF_8)));
  }

  private static String print(UUID uuid) {
    byte[] bytes =
        ByteBuffer.allocate(16)
            .putLong(uuid.getMostSignificantBits())
            .putLong(uuid.getLeastSignificantBits())
            .array();
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }
}
