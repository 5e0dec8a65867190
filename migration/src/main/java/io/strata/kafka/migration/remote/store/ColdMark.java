package io.strata.kafka.migration.remote.store;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Optional;

/**
 * What a segment's {@code cold.json} says: the cold manager has its bytes, or is getting them.
 *
 * @param className the manager's class
 * @param done whether the manager has said that it has them
 * @param customMetadata what the manager wants to see again, base64; empty if it gave nothing
 */
record ColdMark(String className, boolean done, Optional<String> customMetadata) {

  private static final int VERSION = 1;

  static ColdMark begun(String className) {
    return new ColdMark(className, false, Optional.empty());
  }

  static ColdMark done(String className, Optional<byte[]> customMetadata) {
    return new ColdMark(
        className, true, customMetadata.map(b -> Base64.getEncoder().encodeToString(b)));
  }

  Optional<byte[]> customMetadataBytes() {
    return customMetadata.map(text -> Base64.getDecoder().decode(text));
  }

  byte[] print() {
    ObjectNode document = JsonFile.object();
    document.put("formatVersion", VERSION);
    document.put("className", className);
    document.put("done", done);
    customMetadata.ifPresent(text -> document.put("customMetadata", text));
    return JsonFile.print(document);
  }

  /** The mark of a copy; empty if it has none. */
  static Optional<ColdMark> find(SegmentStore.Located copy) throws IOException {
    try {
      return Optional.of(read(copy.path()));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  static ColdMark read(Path segmentDirectory) throws IOException {
    Path file = segmentDirectory.resolve(StoreNames.COLD);
    ObjectNode document = JsonFile.read(file);
    String name = file.toString();
    JsonFile.checkVersion(name, document, VERSION);
    Optional<String> custom = Optional.empty();
    if (document.has("customMetadata")) {
      String text = JsonFile.text(name, document, "customMetadata");
      try {
        byte[] unused = Base64.getDecoder().decode(text);
      } catch (IllegalArgumentException e) {
        throw JsonFile.wrong(name, "customMetadata", text, "base64");
      }
      custom = Optional.of(text);
    }
    return new ColdMark(
        JsonFile.text(name, document, "className"), JsonFile.flag(name, document, "done"), custom);
  }
}
