package io.strata.kafka.migration.remote.store;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Optional;

/**
 * The content of a segment's {@code cold.json}: the cold manager has its bytes, or is getting them.
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
    return new ColdMark(className, true, customMetadata.map(Base64.getEncoder()::encodeToString));
  }

  Optional<byte[]> customMetadataBytes() {
    return customMetadata.map(Base64.getDecoder()::decode);
  }

  byte[] print() {
    ObjectNode document = JsonFile.object(VERSION).put("className", className).put("done", done);
    customMetadata.ifPresent(text -> document.put("customMetadata", text));
    return JsonFile.print(document);
  }

  /** The mark of a copy; empty if it has none. */
  static Optional<ColdMark> find(Path segmentDirectory) throws IOException {
    try {
      return Optional.of(read(segmentDirectory));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  static ColdMark read(Path segmentDirectory) throws IOException {
    JsonFile json = JsonFile.read(segmentDirectory.resolve(StoreNames.COLD), VERSION);
    Optional<String> custom = Optional.empty();
    if (json.object().has("customMetadata")) {
      String text = json.text("customMetadata");
      try {
        byte[] unused = Base64.getDecoder().decode(text);
      } catch (IllegalArgumentException e) {
        throw json.wrong("customMetadata", text, "base64");
      }
      custom = Optional.of(text);
    }
    return new ColdMark(json.text("className"), json.flag("done"), custom);
  }
}
