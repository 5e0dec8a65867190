package io.strata.kafka.migration.remote.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Reads files of segments against their checksums. What is wrong is a sentence; empty if nothing
 * is.
 *
 * @param pace is asked for each piece that is read
 */
record ObjectCheck(CopyBuffers buffers, BytePace pace) {

  private static final int MOST_CHUNKS_NAMED = 8;

  /**
   * What is wrong with a copy: the first file that is not what the manifest says.
   *
   * @throws java.nio.file.NoSuchFileException if a file is not there
   */
  Optional<String> wrong(SegmentStore.Located copy) throws IOException, InterruptedException {
    for (StoredObject object : copy.manifest().objects()) {
      Path file = copy.file(object.type());
      String wrong = wrong(file, object, copy.manifest());
      if (!wrong.isEmpty()) {
        return Optional.of(file + ": " + wrong);
      }
    }
    return Optional.empty();
  }

  /** What is wrong with one file. */
  String wrong(Path file, StoredObject object, Manifest manifest)
      throws IOException, InterruptedException {
    String length = wrongLength(file, object);
    if (!length.isEmpty()) {
      return length;
    }
    int chunkBytes = manifest.chunks().chunkBytes();
    try (CopyBuffers.Lease lease = buffers.borrow(chunkBytes)) {
      ChunkChecksums.Builder found =
          new ObjectCopier(chunkBytes, pace, lease.buffer()).read(file, object.bytes());
      if (object.type() == ObjectType.LOG) {
        return wrongChunks(found.build(), manifest.chunks());
      }
      return found.whole() == object.checksum()
          ? ""
          : "found checksum %s, expected %s"
              .formatted(JsonFile.hex(found.whole()), JsonFile.hex(object.checksum()));
    }
  }

  static String wrongLength(Path file, StoredObject object) throws IOException {
    long size = Files.size(file);
    return size == object.bytes()
        ? ""
        : "found " + size + " bytes, expected " + object.bytes() + ", as its manifest says";
  }

  /** A log is right if its chunks are. */
  private static String wrongChunks(ChunkChecksums found, ChunkChecksums expected) {
    int[] wrong =
        IntStream.range(0, expected.chunks())
            .filter(i -> i >= found.chunks() || found.get(i) != expected.get(i))
            .toArray();
    if (wrong.length == 0) {
      return "";
    }
    String places =
        IntStream.of(wrong)
            .limit(MOST_CHUNKS_NAMED)
            .mapToLong(chunk -> (long) chunk * expected.chunkBytes())
            .mapToObj(
                at -> at + " to " + (Math.min(expected.bytes(), at + expected.chunkBytes()) - 1))
            .collect(Collectors.joining(", "));
    return "found %s damaged chunks, expected the bytes that were copied; at %s%s"
        .formatted(wrong.length, places, wrong.length > MOST_CHUNKS_NAMED ? " and others" : "");
  }
}
