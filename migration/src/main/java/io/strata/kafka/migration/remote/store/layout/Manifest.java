package io.strata.kafka.migration.remote.store.layout;

import java.util.List;
import java.util.Optional;

/**
 * The description of one segment of the store: the content of its {@code manifest.json}. It is
 * written once and never changed; {@link ManifestCodec} describes the file.
 *
 * @param storeId the store that it was copied to, as in {@code strata-store.json}
 * @param segment what Kafka says of it
 * @param createdMillis when it was copied, in milliseconds since the epoch
 * @param objects its files; the log is among them
 * @param chunks the checksums of the log's chunks
 */
public record Manifest(
    String storeId,
    SegmentInfo segment,
    long createdMillis,
    List<StoredObject> objects,
    ChunkChecksums chunks) {

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

  /** The log; every manifest has one. */
  public StoredObject log() {
    return object(ObjectType.LOG).orElseThrow();
  }

  /** Returns what its files take on disk, and the manifest. */
  public long diskBytes() {
    return DiskSpace.ofSegment(
        objects.stream().mapToLong(StoredObject::bytes), segment.bytes(), chunks.chunkBytes());
  }

  /** The bytes of all its files, the manifest excepted. */
  public long totalBytes() {
    return objects.stream().mapToLong(StoredObject::bytes).sum();
  }
}
