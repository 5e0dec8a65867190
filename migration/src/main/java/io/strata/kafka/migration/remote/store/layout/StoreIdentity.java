package io.strata.kafka.migration.remote.store.layout;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.migration.remote.store.layout.JsonFile.CorruptManifestException;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Which store a directory belongs to: the content of its {@code strata-store.json}.
 *
 * @param storeId the store's id, the same in all its directories: 22 characters, as Kafka prints a
 *     UUID
 * @param createdMillis when the directory was first used
 */
public record StoreIdentity(
    String storeId, String clusterId, String directoryId, long createdMillis) {

  private static final int VERSION = 1;

  public byte[] print() {
    ObjectNode document = JsonFile.object(VERSION);
    print(document);
    return JsonFile.print(document);
  }

  /** Prints the identity into a document. */
  public void print(ObjectNode document) {
    document.put("storeId", storeId);
    document.put("clusterId", clusterId);
    document.put("directoryId", directoryId);
    document.put("createdMillis", createdMillis);
  }

  /**
   * Reads a directory's identity.
   *
   * @throws java.nio.file.NoSuchFileException if it has none
   * @throws CorruptManifestException if it is damaged or of another version
   */
  public static StoreIdentity read(Path directory) throws IOException {
    return parse(JsonFile.read(directory.resolve(StoreNames.IDENTITY), VERSION));
  }

  /** Reads an identity. */
  public static StoreIdentity parse(JsonFile json) throws CorruptManifestException {
    return new StoreIdentity(
        id(json, "storeId"),
        json.text("clusterId"),
        id(json, "directoryId"),
        json.number("createdMillis"));
  }

  private static String id(JsonFile json, String member) throws CorruptManifestException {
    String value = json.text(member);
    if (!value.matches("[A-Za-z0-9_-]{22}")) {
      throw json.wrong(member, value, "22 characters of URL-safe base64");
    }
    return value;
  }
}
