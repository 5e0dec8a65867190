package io.strata.kafka.migration.remote.store.layout;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.migration.remote.store.layout.JsonFile.CorruptManifestException;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.LongStream;

/**
 * The description of one segment of the store: the content of its {@code manifest.json}, format
 * version 1. It is written once and never changed.
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
 *
 * @param storeId the store that it was copied to, as in {@code strata-store.json}
 * @param createdMillis when it was copied, in milliseconds since the epoch
 * @param objects its files; the log is among them
 */
public record Manifest(
    String storeId,
    SegmentInfo segment,
    long createdMillis,
    List<StoredObject> objects,
    ChunkChecksums chunks) {

  private static final int VERSION = 1;

  /** The usual size on local file systems; one of NFS says its transfer size instead. */
  private static final long BLOCK = 4096;

  /** A manifest without its chunks' checksums, at the most. */
  private static final long WITHOUT_CHUNKS = 2048;

  private static final long PER_CHUNK = 12;

  /**
   * Copies the list.
   *
   * @throws IllegalArgumentException if there is no log, a type is there twice, or the log's length
   *     is not the segment's
   */
  public Manifest {
    objects = List.copyOf(objects);
    if (objects.stream().map(StoredObject::type).distinct().count() != objects.size()) {
      throw new IllegalArgumentException("objects: a type is there twice: " + objects);
    }
    long log =
        objects.stream()
            .filter(o -> o.type() == ObjectType.LOG)
            .mapToLong(StoredObject::bytes)
            .findFirst()
            .orElse(-1);
    if (log != segment.bytes()) {
      throw new IllegalArgumentException(
          "objects: found a log of " + log + " bytes, expected the segment's " + segment.bytes());
    }
  }

  /** One of its files; empty if it has no file of the type. */
  public Optional<StoredObject> object(ObjectType type) {
    return objects.stream().filter(o -> o.type() == type).findFirst();
  }

  public StoredObject log() {
    return object(ObjectType.LOG).orElseThrow();
  }

  /** Returns what its files take on disk, and the manifest. */
  public long diskBytes() {
    return diskBytes(
        objects.stream().mapToLong(StoredObject::bytes), segment.bytes(), chunks.chunkBytes());
  }

  /** Returns what a file takes on disk: whole blocks, several times its length if it is small. */
  public static long diskBytes(long length) {
    return (length + BLOCK - 1) / BLOCK * BLOCK;
  }

  /** Returns what a segment's directory takes, with its manifest. */
  public static long diskBytes(LongStream files, long logBytes, int chunkBytes) {
    long manifest = WITHOUT_CHUNKS + PER_CHUNK * (logBytes / chunkBytes + 1);
    return BLOCK + diskBytes(manifest) + files.map(Manifest::diskBytes).sum();
  }

  public long totalBytes() {
    return objects.stream().mapToLong(StoredObject::bytes).sum();
  }

  /** Prints the manifest as its file has it. */
  public byte[] print() {
    ObjectNode document = JsonFile.object(VERSION).put("storeId", storeId);
    segment.print(document);
    document.put("createdMillis", createdMillis);
    ArrayNode array = document.putArray("objects");
    for (StoredObject object : objects) {
      array
          .addObject()
          .put("type", typeName(object.type()))
          .put("name", object.type().fileName(segment.key()))
          .put("bytes", object.bytes())
          .put("crc32c", JsonFile.hex(object.checksum()));
    }
    ByteBuffer checksums = ByteBuffer.allocate(Integer.BYTES * chunks.chunks());
    IntBuffer unused = checksums.asIntBuffer().put(chunks.checksums().duplicate());
    document.put("chunkBytes", chunks.chunkBytes());
    document.put("chunkCrc32c", HexFormat.of().formatHex(checksums.array()));
    return JsonFile.print(document);
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
    SegmentInfo segment = SegmentInfo.parse(json);
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

  private static List<StoredObject> objects(JsonFile manifest, SegmentKey key)
      throws CorruptManifestException {
    List<StoredObject> objects = new ArrayList<>();
    for (JsonFile json : manifest.list("objects")) {
      ObjectType type = type(json);
      objects.add(new StoredObject(type, json.number("bytes"), json.checksum("crc32c")));
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
