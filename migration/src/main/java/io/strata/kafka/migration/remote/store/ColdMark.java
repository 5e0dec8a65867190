package io.strata.kafka.migration.remote.store;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Optional;

/**
 * What a segment's {@code cold.json} says: the cold manager has its bytes, or is getting them.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param className the manager's class
 * @param done whether the manager has said that it has them
 * @param customMetadata what the manager wants to see again, base64; empty if it gave nothing
 */
record ColdMark(String className, boolean done, Optional<String> customMetadata) {

  private static final int VERSION = 1;

  ColdMark {
    requireNonNull(className);
    requireNonNull(customMetadata);
  }

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

  /**
   * Whether the configured manager has said that it has the bytes.
   *
   * @param className the configured manager's class; what another one has is not at hand
   */
  static boolean isDone(Path segmentDirectory, Optional<String> className) throws IOException {
    if (className.isEmpty() || !Disk.isThere(segmentDirectory.resolve(StoreNames.COLD))) {
      return false;
    }
    ColdMark mark = read(segmentDirectory);
    return mark.done() && mark.className().equals(className.get());
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
