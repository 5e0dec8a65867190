package io.strata.kafka.migration.remote.store.layout;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The content of a segment's {@code cold.json}: the cold manager has its bytes, or is getting them.
 *
 * @param done whether the manager has said that it has them
 * @param brokerId the broker that began to copy them; empty once it is done
 * @param customMetadata what the manager wants to see again, base64; empty if it gave nothing
 */
public record ColdMark(
    String className, boolean done, OptionalInt brokerId, Optional<String> customMetadata) {

  private static final int VERSION = 1;

  public static ColdMark begun(String className, int brokerId) {
    return new ColdMark(className, false, OptionalInt.of(brokerId), Optional.empty());
  }

  /** Returns the mark of a copy that the manager has. */
  public static ColdMark done(String className, Optional<byte[]> customMetadata) {
    return new ColdMark(
        className,
        true,
        OptionalInt.empty(),
        customMetadata.map(Base64.getEncoder()::encodeToString));
  }

  public Optional<byte[]> customMetadataBytes() {
    return customMetadata.map(Base64.getDecoder()::decode);
  }

  /** Prints the mark as its file has it. */
  public byte[] print() {
    ObjectNode document = JsonFile.object(VERSION).put("className", className).put("done", done);
    brokerId.ifPresent(id -> document.put("brokerId", id));
    customMetadata.ifPresent(text -> document.put("customMetadata", text));
    return JsonFile.print(document);
  }

  /** The mark of a copy; empty if it has none. */
  public static Optional<ColdMark> find(Path segmentDirectory) throws IOException {
    try {
      return Optional.of(read(segmentDirectory));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  /** Reads the mark of a segment. */
  public static ColdMark read(Path segmentDirectory) throws IOException {
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
    OptionalInt brokerId =
        json.object().has("brokerId")
            ? OptionalInt.of(json.smallNumber("brokerId"))
            : OptionalInt.empty();
    return new ColdMark(json.text("className"), json.flag("done"), brokerId, custom);
  }
}
