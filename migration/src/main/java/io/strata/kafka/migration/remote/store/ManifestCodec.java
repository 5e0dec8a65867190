package io.strata.kafka.migration.remote.store;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
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
 *   "createdMillis" : …, "linked" : false,
 *   "objects" : [ { "type" : "log", "name" : "00000000000000004711.log", "bytes" : …, "crc32c" : "…" }, … ],
 *   "chunkBytes" : 1048576,
 *   "chunkCrc32c" : [ "…", … ],
 *   "checksum" : "…"
 * }
 * </pre>
 *
 * <p>Nothing that is read is taken for a path: names are compared with those that the key gives.
 */
public final class ManifestCodec {

  private static final int VERSION = 1;

  private ManifestCodec() {}

  /** The file's bytes. */
  public static byte[] print(Manifest manifest) {
    SegmentKey key = manifest.segment().key();
    ObjectNode document = JsonFile.object();
    document.put("formatVersion", VERSION);
    document.put("storeId", manifest.storeId());
    print(manifest.segment(), document);
    document.put("createdMillis", manifest.createdMillis());
    document.put("linked", manifest.linked());
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
    ArrayNode chunks = document.putArray("chunkCrc32c");
    for (int i = 0; i < manifest.chunks().chunks(); i++) {
      chunks.add(JsonFile.hex(manifest.chunks().get(i)));
    }
    return JsonFile.print(document);
  }

  /** Adds a segment's members. */
  static void print(SegmentInfo segment, ObjectNode document) {
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
    return check(file.toString(), parse(file.toString(), JsonFile.read(file)), expected);
  }

  /**
   * Reads a manifest's bytes.
   *
   * @param name for messages
   * @throws CorruptManifestException if it is damaged or of another version
   */
  public static Manifest parse(String name, byte[] bytes) throws CorruptManifestException {
    return parse(name, JsonFile.parse(name, bytes));
  }

  private static Manifest check(String name, Manifest manifest, SegmentKey expected)
      throws CorruptManifestException {
    if (!manifest.segment().key().equals(expected)) {
      throw new CorruptManifestException(
          "%s: found the manifest of %s, expected that of %s: it was moved by hand"
              .formatted(name, manifest.segment().key(), expected));
    }
    return manifest;
  }

  private static Manifest parse(String name, ObjectNode document) throws CorruptManifestException {
    JsonFile.checkVersion(name, document, VERSION);
    try {
      SegmentInfo segment = segment(name, document);
      SegmentKey key = segment.key();
      return new Manifest(
          JsonFile.text(name, document, "storeId"),
          segment,
          JsonFile.number(name, document, "createdMillis"),
          JsonFile.flag(name, document, "linked"),
          objects(name, document.path("objects"), key),
          ChunkChecksums.of(
              JsonFile.smallNumber(name, document, "chunkBytes"),
              segment.bytes(),
              checksums(name, document.path("chunkCrc32c"))));
    } catch (IllegalArgumentException e) {
      throw new CorruptManifestException(name + ": " + e.getMessage());
    }
  }

  /** Reads a segment's members. */
  static SegmentInfo segment(String name, ObjectNode document) throws CorruptManifestException {
    try {
      return new SegmentInfo(
          new SegmentKey(
              JsonFile.text(name, document, "topic"),
              JsonFile.text(name, document, "topicId"),
              JsonFile.smallNumber(name, document, "partition"),
              JsonFile.number(name, document, "startOffset"),
              JsonFile.text(name, document, "id")),
          JsonFile.number(name, document, "endOffset"),
          JsonFile.number(name, document, "maxTimestampMillis"),
          JsonFile.smallNumber(name, document, "brokerId"),
          JsonFile.number(name, document, "eventTimestampMillis"),
          JsonFile.smallNumber(name, document, "bytes"),
          epochs(name, document.path("leaderEpochs")),
          JsonFile.flag(name, document, "transactionIndexEmpty"));
    } catch (IllegalArgumentException e) {
      throw new CorruptManifestException(name + ": " + e.getMessage());
    }
  }

  private static NavigableMap<Integer, Long> epochs(String name, JsonNode node)
      throws CorruptManifestException {
    NavigableMap<Integer, Long> epochs = new TreeMap<>();
    if (!node.isObject()) {
      throw JsonFile.wrong(name, "leaderEpochs", node.toString(), "an object");
    }
    for (Map.Entry<String, JsonNode> entry : node.properties()) {
      try {
        epochs.put(Integer.valueOf(entry.getKey()), JsonFile.number(name, node, entry.getKey()));
      } catch (NumberFormatException e) {
        throw JsonFile.wrong(name, "leaderEpochs", entry.getKey(), "numbers of epochs");
      }
    }
    return epochs;
  }

  private static List<StoredObject> objects(String name, JsonNode node, SegmentKey key)
      throws CorruptManifestException {
    List<StoredObject> objects = new ArrayList<>();
    for (JsonNode element : node) {
      String type = JsonFile.text(name, element, "type");
      StoredObject object =
          new StoredObject(
              typeNamed(name, type),
              JsonFile.number(name, element, "bytes"),
              JsonFile.checksum(name, "crc32c", JsonFile.text(name, element, "crc32c")));
      String file = JsonFile.text(name, element, "name");
      if (!file.equals(object.type().fileName(key))) {
        throw JsonFile.wrong(name, "name", file, object.type().fileName(key));
      }
      objects.add(object);
    }
    return objects;
  }

  private static int[] checksums(String name, JsonNode node) throws CorruptManifestException {
    int[] checksums = new int[node.size()];
    for (int i = 0; i < checksums.length; i++) {
      checksums[i] = JsonFile.checksum(name, "chunkCrc32c", node.path(i).asText());
    }
    return checksums;
  }

  private static String typeName(ObjectType type) {
    return type.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private static ObjectType typeNamed(String name, String text) throws CorruptManifestException {
    for (ObjectType type : ObjectType.values()) {
      if (typeName(type).equals(text)) {
        return type;
      }
    }
    throw JsonFile.wrong(name, "type", text, "the type of an object of the store");
  }
}
