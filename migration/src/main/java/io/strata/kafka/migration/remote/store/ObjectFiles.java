package io.strata.kafka.migration.remote.store;

import io.strata.kafka.migration.CorruptSegmentException;
import io.strata.kafka.migration.remote.store.ColdCopies.ColdStorage;
import io.strata.kafka.migration.remote.store.disk.BytePace;
import io.strata.kafka.migration.remote.store.disk.Deadlines;
import io.strata.kafka.migration.remote.store.disk.Disk;
import io.strata.kafka.migration.remote.store.disk.SourceException;
import io.strata.kafka.migration.remote.store.layout.ChunkChecksums;
import io.strata.kafka.migration.remote.store.layout.ColdMark;
import io.strata.kafka.migration.remote.store.layout.JsonFile;
import io.strata.kafka.migration.remote.store.layout.Manifest;
import io.strata.kafka.migration.remote.store.layout.StoredObject;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * Reads, copies and compares files of segments, and computes their checksums on the way. Not all
 * files are forced here: the step that gives them their place forces them together. A fault is a
 * sentence; empty if there is none.
 *
 * @param buffers lends them to the work that reads, which may still use one when no caller waits
 *     for it any more
 */
public record ObjectFiles(ColdCopies cold, CopyBuffers buffers) {

  /** The bytes that one request to the cold manager is worth. */
  private static final int COLD_PIECE = 8 << 20;

  private static final int MOST_CHUNKS_NAMED = 8;

  /**
   * So much is written at most before it is forced: the force of a whole segment would look like a
   * disk that hangs.
   */
  private static final long FORCED_PIECE = 64 << 20;

  public ObjectFiles(ColdCopies cold) {
    this(cold, new CopyBuffers());
  }

  /**
   * Copies one file of a segment; the log of a copy without it comes from the cold manager.
   *
   * @param target must not exist
   * @throws SourceException if it cannot be read, or is not what the manifest says
   */
  public void copy(SegmentStore.Located source, StoredObject object, Path target, BytePace pace)
      throws IOException, InterruptedException {
    Manifest manifest = source.manifest();
    if (object.type() == ObjectType.LOG && !source.hasLog()) {
      ColdMark mark = SourceException.reading(() -> ColdMark.read(source.path()));
      ColdStorage from = SourceException.reading(() -> cold.require(source.path(), mark));
      Optional<byte[]> custom = mark.customMetadataBytes();
      check(target, object, read(from, custom, manifest, Optional.of(target), pace));
      return;
    }
    Path file = source.file(object.type());
    int chunkBytes = manifest.chunks().chunkBytes();
    check(file, object, read(file, object.bytes(), Optional.of(target), chunkBytes, pace));
  }

  private static void check(Path file, StoredObject object, ChunkChecksums.Builder found)
      throws SourceException {
    if (found.bytes() != object.bytes() || found.whole() != object.checksum()) {
      throw new SourceException(
          new CorruptSegmentException(
              """
              %s: found %d bytes with checksum %s, expected %d with %s, as its manifest says: it \
              is damaged, and was not copied\
              """
                  .formatted(
                      file,
                      found.bytes(),
                      JsonFile.hex(found.whole()),
                      object.bytes(),
                      JsonFile.hex(object.checksum()))));
    }
  }

  /** Reads all that the cold manager has of a segment, and compares it with the manifest. */
  void readBack(Manifest manifest, Optional<byte[]> custom, BytePace pace)
      throws IOException, InterruptedException {
    ColdStorage from = cold.manager().orElseThrow();
    int found = read(from, custom, manifest, Optional.empty(), pace).whole();
    if (found != manifest.log().checksum()) {
      throw new IOException(
          "%s: %s gives back bytes with checksum %s, expected %s: the copy here stays"
              .formatted(
                  manifest.segment().key(),
                  from.className(),
                  JsonFile.hex(found),
                  JsonFile.hex(manifest.log().checksum())));
    }
  }

  /**
   * Returns what is wrong with a copy: the first file that is not what the manifest says. The log
   * of a copy without it is not asked for.
   */
  public Optional<String> wrong(SegmentStore.Located copy, BytePace pace)
      throws IOException, InterruptedException {
    for (StoredObject object : copy.manifest().objects()) {
      if (object.type() == ObjectType.LOG && !copy.hasLog()) {
        continue;
      }
      Path file = copy.file(object.type());
      String wrong = wrong(file, object, copy.manifest(), pace);
      if (!wrong.isEmpty()) {
        return Optional.of(file + ": " + wrong);
      }
    }
    return Optional.empty();
  }

  /** Returns what is wrong with one file. */
  public String wrong(Path file, StoredObject object, Manifest manifest, BytePace pace)
      throws IOException, InterruptedException {
    String length = wrongLength(file, object);
    if (!length.isEmpty()) {
      return length;
    }
    int chunkBytes = manifest.chunks().chunkBytes();
    ChunkChecksums.Builder found = read(file, object.bytes(), Optional.empty(), chunkBytes, pace);
    if (object.type() == ObjectType.LOG) {
      return wrongChunks(found.build(), manifest.chunks());
    }
    return found.whole() == object.checksum()
        ? ""
        : "found checksum %s, expected %s"
            .formatted(JsonFile.hex(found.whole()), JsonFile.hex(object.checksum()));
  }

  /** Returns how the length of a file differs from what the manifest says; empty if it does not. */
  public static String wrongLength(Path file, StoredObject object) throws IOException {
    long size = Files.size(file);
    return size == object.bytes()
        ? ""
        : "found " + size + " bytes, expected " + object.bytes() + ", as its manifest says";
  }

  /** A log is right if its chunks are. */
  private static String wrongChunks(ChunkChecksums found, ChunkChecksums expected) {
    long[] wrong = expected.wrong(found);
    if (wrong.length == 0) {
      return "";
    }
    String places =
        LongStream.of(wrong)
            .limit(MOST_CHUNKS_NAMED)
            .mapToObj(
                at -> at + " to " + (Math.min(expected.bytes(), at + expected.chunkBytes()) - 1))
            .collect(Collectors.joining(", "));
    return "found %s damaged chunks, expected the bytes that were copied; at %s%s"
        .formatted(wrong.length, places, wrong.length > MOST_CHUNKS_NAMED ? " and others" : "");
  }

  /**
   * Reads the first bytes of a file.
   *
   * @param bytes so many at most: an object may have grown, and what is behind its length is not
   *     the segment's
   * @param target gets them; must not exist
   * @param chunkBytes how a log is divided for its checksums
   * @throws SourceException if there is a target, and the file cannot be read
   */
  ChunkChecksums.Builder read(
      Path file, long bytes, Optional<Path> target, int chunkBytes, BytePace pace)
      throws IOException, InterruptedException {
    Deadlines.Plain<FileChannel> open = () -> FileChannel.open(file, StandardOpenOption.READ);
    try (CopyBuffers.Lease lease = buffers.borrow(chunkBytes);
        FileChannel from = target.isPresent() ? SourceException.reading(open) : open.run()) {
      Source source = (buffer, position) -> Disk.readFully(from, buffer, position);
      return read(source, bytes, lease.buffer(), target, chunkBytes, pace);
    }
  }

  /** Fills a buffer from a position, as far as there are bytes; flips it. */
  @FunctionalInterface
  private interface Source {
    void read(ByteBuffer buffer, long position) throws IOException, InterruptedException;
  }

  private static ChunkChecksums.Builder read(
      ColdStorage from,
      Optional<byte[]> custom,
      Manifest manifest,
      Optional<Path> target,
      BytePace pace)
      throws IOException, InterruptedException {
    Source source =
        (buffer, position) -> {
          from.read(manifest, custom, position, buffer);
          buffer.flip();
        };
    ByteBuffer buffer = ByteBuffer.allocate(COLD_PIECE);
    int chunkBytes = manifest.chunks().chunkBytes();
    return read(source, manifest.segment().bytes(), buffer, target, chunkBytes, pace);
  }

  private static ChunkChecksums.Builder read(
      Source from,
      long bytes,
      ByteBuffer buffer,
      Optional<Path> target,
      int chunkBytes,
      BytePace pace)
      throws IOException, InterruptedException {
    ChunkChecksums.Builder read = new ChunkChecksums.Builder(chunkBytes);
    long forced = 0;
    try (FileChannel to = target.isPresent() ? Disk.create(target.get()) : null) {
      while (read.bytes() < bytes) {
        buffer.clear().limit((int) Math.min(buffer.capacity(), bytes - read.bytes()));
        if (to == null) {
          from.read(buffer, read.bytes());
        } else {
          boolean unused =
              SourceException.reading(
                  () -> {
                    from.read(buffer, read.bytes());
                    return true;
                  });
        }
        if (!buffer.hasRemaining()) {
          break;
        }
        pace.before(buffer.remaining());
        read.update(buffer);
        if (to != null) {
          Disk.writeFully(to, buffer);
          if (read.bytes() - forced >= FORCED_PIECE) {
            to.force(false);
            forced = read.bytes();
          }
        }
      }
      return read;
    }
  }

  /**
   * Buffers outside the heap, used again and again: such memory is given back by the collector
   * only.
   */
  public static final class CopyBuffers {

    private static final int SMALLEST = 256 << 10;

    private final ConcurrentLinkedQueue<ByteBuffer> idle = new ConcurrentLinkedQueue<>();

    /** A buffer until it is closed; for one thread. */
    public record Lease(CopyBuffers owner, ByteBuffer buffer) implements AutoCloseable {
      @Override
      public void close() {
        boolean unused = owner.idle.add(buffer);
      }
    }

    /** Gives a buffer of so many bytes at least. */
    public Lease borrow(int bytes) {
      ByteBuffer found = idle.poll();
      return new Lease(
          this,
          found != null && found.capacity() >= bytes
              ? found
              : ByteBuffer.allocateDirect(Math.max(bytes, SMALLEST)));
    }
  }
}
