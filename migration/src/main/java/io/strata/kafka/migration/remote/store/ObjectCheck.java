package io.strata.kafka.migration.remote.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.zip.CRC32C;

/** Reads an object's bytes against its checksums. */
final class ObjectCheck {

  private static final int MOST_CHUNKS_NAMED = 8;

  private ObjectCheck() {}

  /**
   * What is wrong with a copy: the first file that is not what the manifest says. Empty if all are.
   *
   * @param pace waits before so many bytes are read
   * @throws java.nio.file.NoSuchFileException if a file is not there
   */
  static Optional<String> wrong(SegmentStore.Located copy, BytePace pace, CopyBuffers buffers)
      throws IOException, InterruptedException {
    Manifest manifest = copy.manifest();
    try (CopyBuffers.Lease lease = buffers.borrow(manifest.chunks().chunkBytes())) {
      for (StoredObject object : manifest.objects()) {
        Path file = copy.file(object.type());
        String wrong = wrong(file, object, manifest, pace, lease.buffer());
        if (!wrong.isEmpty()) {
          return Optional.of(file + ": " + wrong);
        }
      }
    }
    return Optional.empty();
  }

  /**
   * What is wrong with one file; empty if nothing is.
   *
   * @param pace waits before so many bytes are read
   * @param buffer has space for one chunk
   */
  static String wrong(
      Path file, StoredObject object, Manifest manifest, BytePace pace, ByteBuffer buffer)
      throws IOException, InterruptedException {
    String length = wrongLength(Files.size(file), object);
    return length.isEmpty() ? wrongBytes(file, object, manifest, pace, buffer) : length;
  }

  /** What is wrong with a file's length; empty if nothing is. */
  static String wrongLength(long size, StoredObject object) {
    return size == object.bytes()
        ? ""
        : "found " + size + " bytes, expected " + object.bytes() + ", as its manifest says";
  }

  private static String wrongBytes(
      Path file, StoredObject object, Manifest manifest, BytePace pace, ByteBuffer buffer)
      throws IOException, InterruptedException {
    ChunkChecksums chunks = manifest.chunks();
    CRC32C whole = new CRC32C();
    List<String> wrong = new ArrayList<>();
    int count = 0;
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      int chunk = 0;
      for (long at = 0; at < object.bytes(); at += chunks.chunkBytes(), chunk++) {
        int bytes = (int) Math.min(chunks.chunkBytes(), object.bytes() - at);
        pace.before(bytes);
        buffer.clear().limit(bytes);
        Disk.readFully(channel, buffer, at);
        if (object.type() != ObjectType.LOG) {
          whole.update(buffer);
        } else {
          CRC32C checksum = new CRC32C();
          checksum.update(buffer);
          if ((int) checksum.getValue() != chunks.get(chunk)) {
            count++;
            if (wrong.size() < MOST_CHUNKS_NAMED) {
              wrong.add(at + " to " + (at + bytes - 1));
            }
          }
        }
      }
    }
    if (count > 0) {
      return "found %s damaged chunks, expected the bytes that were copied; at %s%s"
          .formatted(count, String.join(", ", wrong), count > wrong.size() ? " and others" : "");
    }
    // A log is right if its chunks are.
    if (object.type() != ObjectType.LOG && (int) whole.getValue() != object.checksum()) {
      return "found checksum "
          + JsonFile.hex((int) whole.getValue())
          + ", expected "
          + JsonFile.hex(object.checksum());
    }
    return "";
  }
}
