package io.strata.kafka.migration.remote.store.layout;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Writes and reads {@code manifest.json}, format version 1.
 *
 * <pre>
 * {
 *   "formatVersion" : 1,
 *   "storeId" : "…",
 *   "topic" : "orders", "topicId" : "…", "partition" : 0, "id" : "…",
 *   "startOffset" : 4711, "endOffset" : 9421,
 *   "maxTimestampMillis" : …, "brokerId" : 3, "eventTimestampMillis" : …,
 *   "bytes" : 1073741824, "leaderEpochs" : { "0" : 4711, "2" : 5000 },
 *   "transactionIndexEmpty" : true,
 *   "createdMillis" : …,
 *   "objects" : [ { "type" : "log", "name" : "00000000000000004711.log", "bytes" : …, "crc32c" : "…" }, … ],
 *   "chunkBytes" : 1048576,
 *   "chunkCrc32c" : "…",
 *   "checksum" : "…"
 * }
 * </pre>
 *
 * <p>{@code chunkCrc32c} has 8 hexadecimal digits for each chunk. A segment of 1 GiB has 4,096
 * chunks: as separate texts, they would take a broker that has just started tens of milliseconds.
 *
 * <p>Nothing that is read is taken for a path: names are compared with those that the key gives.
 */
public final class ManifestCodec {

  private static final int VERSION = 1;

  private ManifestCodec() {}

  /** The file's bytes. */
  public static byte[] print(Manifest manifest) {
    SegmentKey key = manifest.segment().key();
    ObjectNode document = JsonFile.object(VERSION).put("storeId", manifest.storeId());
    print(manifest.segment(), document);
    document.put("createdMillis", manifest.createdMillis());
    ArrayNode objects = document.putArray("objects");
    for (StoredObject object : manifest.objects()) {
      objects
          .addObject()
          .put("type", typeName(object.type()))
          .put("name", object.type().fileName(key))
          .put("bytes", object.bytes())
          .put("crc32c", JsonFile.hex(object.checksum()));
    }
    document.put("chunkBytes", manifest.chunks().chunkBytes());
    StringBuilder chunks = new StringBuilder(8 * manifest.chunks().chunks());
    for (int i = 0; i < manifest.chunks().chunks(); i++) {
      chunks.append(JsonFile.hex(manifest.chunks().get(i)));
    }
    document.put("chunkCrc32c", chunks.toString());
    return JsonFile.print(document);
  }

  /** Prints a segment into a document. */
  public static void print(SegmentInfo segment, ObjectNode document) {
    SegmentKey key = segment.key();
    document.put("topic", key.topic());
    document.put("topicId", key.topicId());
    document.put("partition", key.partition());
    document.put("id", key.id());
    document.put("startOffset", key.startOffset());
    document.put("endOffset", segment.endOffset());
    document.put("maxTimestampMillis", segment.maxTimestampMillis());
    document.put("brokerId", segment.brokerId());
    document.put("eventTimestampMillis", segment.eventTimestampMillis());
    document.put("bytes", segment.bytes());
    ObjectNode epochs = document.putObject("leaderEpochs");
    segment.leaderEpochs().forEach((epoch, offset) -> epochs.put(epoch.toString(), offset));
    document.put("transactionIndexEmpty", segment.transactionIndexEmpty());
  }

  /**
   * Reads the manifest of a segment's directory.
   *
   * @throws java.nio.file.NoSuchFileException if it has none
   * @throws CorruptManifestException if it is damaged, of another version, or another segment's
   */
  public static Manifest read(Path segmentDirectory, SegmentKey expected) throws IOException {
    Path file = segmentDirectory.resolve(StoreNames.MANIFEST);
    Manifest manifest = parse(JsonFile.read(file, VERSION));
    if (!manifest.segment().key().equals(expected)) {
      throw new CorruptManifestException(
          "%s: found the manifest of %s, expected that of %s: it was moved by hand"
              .formatted(file, manifest.segment().key(), expected));
    }
    return manifest;
  }

  /** Reads a manifest's bytes; {@code name} is for messages. */
  public static Manifest parse(String name, byte[] bytes) throws CorruptManifestException {
    return parse(JsonFile.parse(name, bytes, VERSION));
  }

  private static Manifest parse(JsonFile json) throws CorruptManifestException {
    SegmentInfo segment = segment(json);
    try {
      return new Manifest(
          json.text("storeId"),
          segment,
          json.number("createdMillis"),
          objects(json, segment.key()),
          ChunkChecksums.of(json.smallNumber("chunkBytes"), segment.bytes(), checksums(json)));
    } catch (IllegalArgumentException e) {
      throw new CorruptManifestException(json.name() + ": " + e.getMessage());
    }
  }

  /** Reads a segment. */
  public static SegmentInfo segment(JsonFile json) throws CorruptManifestException {
    try {
      return new SegmentInfo(
          new SegmentKey(
              json.text("topic"),
              json.text("topicId"),
              json.smallNumber("partition"),
              json.number("startOffset"),
              json.text("id")),
          json.number("endOffset"),
          json.number("maxTimestampMillis"),
          json.smallNumber("brokerId"),
          json.number("eventTimestampMillis"),
          json.smallNumber("bytes"),
          epochs(json),
          json.flag("transactionIndexEmpty"));
    } catch (IllegalArgumentException e) {
      throw new CorruptManifestException(json.name() + ": " + e.getMessage());
    }
  }

  private static NavigableMap<Integer, Long> epochs(JsonFile json) throws CorruptManifestException {
    NavigableMap<Integer, Long> epochs = new TreeMap<>();
    JsonNode node = json.object().path("leaderEpochs");
    if (!node.isObject()) {
      throw json.wrong("leaderEpochs", node.toString(), "an object");
    }
    for (Map.Entry<String, JsonNode> entry : node.properties()) {
      try {
        epochs.put(
            Integer.valueOf(entry.getKey()),
            new JsonFile(json.name(), node).number(entry.getKey()));
      } catch (NumberFormatException e) {
        throw json.wrong("leaderEpochs", entry.getKey(), "numbers of epochs");
      }
    }
    return epochs;
  }

  private static List<StoredObject> objects(JsonFile manifest, SegmentKey key)
      throws CorruptManifestException {
    List<StoredObject> objects = new ArrayList<>();
    for (JsonFile json : manifest.list("objects")) {
      ObjectType type = type(json);
      objects.add(
          new StoredObject(
              type, json.number("bytes"), json.checksum("crc32c", json.text("crc32c"))));
      String file = json.text("name");
      if (!file.equals(type.fileName(key))) {
        throw json.wrong("name", file, type.fileName(key));
      }
    }
    return objects;
  }

  private static int[] checksums(JsonFile json) throws CorruptManifestException {
    String text = json.text("chunkCrc32c");
    byte[] bytes;
    try {
      bytes = HexFormat.of().parseHex(text);
    } catch (IllegalArgumentException e) {
      throw json.wrong("chunkCrc32c", text, "hexadecimal digits");
    }
    int[] checksums = new int[bytes.length / Integer.BYTES];
    if (bytes.length > Integer.BYTES * checksums.length) {
      throw json.wrong("chunkCrc32c", text, "8 hexadecimal digits for each chunk");
    }
    var unused = ByteBuffer.wrap(bytes).asIntBuffer().get(checksums);
    return checksums;
  }

  private static String typeName(ObjectType type) {
    return type.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private static ObjectType type(JsonFile json) throws CorruptManifestException {
    String text = json.text("type");
    for (ObjectType type : ObjectType.values()) {
      if (typeName(type).equals(text)) {
        return type;
      }
    }
    throw json.wrong("type", text, "the type of an object of the store");
  }
}
