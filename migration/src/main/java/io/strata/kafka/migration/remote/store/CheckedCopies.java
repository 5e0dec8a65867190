package io.strata.kafka.migration.remote.store;

import io.strata.kafka.migration.CorruptSegmentException;
import io.strata.kafka.migration.MoveControl;
import java.io.IOException;
import java.nio.file.Path;

/** Copies files of segments that are in the store, and compares what was read with the manifest. */
record CheckedCopies(ColdCopies cold, CopyBuffers buffers) {

  /** What {@link MoveControl#beforeCopying} lets pass at once. */
  private static final int PIECE = 1 << 20;

  static BytePace pace(MoveControl control) {
    return bytes -> {
      for (int left = bytes; left > 0; left -= PIECE) {
        if (control.cancelled()) {
          throw new BytePace.CopyCancelledException("the move was cancelled");
        }
        control.beforeCopying(Math.min(left, PIECE));
      }
    };
  }

  /**
   * Copies one file of a segment; the log of a copy without it comes from the cold manager.
   *
   * @param target must not exist
   * @throws CorruptSegmentException if it is not what the manifest says
   */
  void copy(SegmentStore.Located source, StoredObject object, Path target, BytePace pace)
      throws IOException, InterruptedException {
    Manifest manifest = source.manifest();
    if (object.type() == ObjectType.LOG && !source.hasLog()) {
      check(target, object, cold.copyTo(source.path(), manifest, target, pace));
      return;
    }
    Path file = source.file(object.type());
    int chunkBytes = manifest.chunks().chunkBytes();
    try (CopyBuffers.Lease lease = buffers.borrow(chunkBytes)) {
      ObjectCopier copier = new ObjectCopier(chunkBytes, pace, lease.buffer());
      check(file, object, copier.copy(file, object.bytes(), target));
    }
  }

  /**
   * Reads one file of a segment.
   *
   * @throws CorruptSegmentException if it is not what the manifest says
   */
  void check(SegmentStore.Located source, StoredObject object, BytePace pace)
      throws IOException, InterruptedException {
    Path file = source.file(object.type());
    String wrong = new ObjectCheck(buffers, pace).wrong(file, object, source.manifest());
    if (!wrong.isEmpty()) {
      throw new CorruptSegmentException(
          "%s: %s: it is damaged, and was not copied".formatted(file, wrong));
    }
  }

  private static void check(Path file, StoredObject object, ChunkChecksums.Builder found)
      throws CorruptSegmentException {
    if (found.bytes() != object.bytes() || found.whole() != object.checksum()) {
      throw new CorruptSegmentException(
          """
          %s: found %d bytes with checksum %s, expected %d with %s, as its manifest says: it is \
          damaged, and was not copied\
          """
              .formatted(
                  file,
                  found.bytes(),
                  JsonFile.hex(found.whole()),
                  object.bytes(),
                  JsonFile.hex(object.checksum())));
    }
  }
}
