package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.remote.read.ChunkKey;
import io.strata.kafka.migration.remote.read.ChunkSource;
import io.strata.kafka.migration.remote.store.Manifest;
import io.strata.kafka.migration.remote.store.SegmentKey;
import io.strata.kafka.migration.remote.store.SegmentStore.Located;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A segment of the store as a source of chunks. It may move from level to level while it is read:
 * the place is looked up again when the segment is not where it was.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class StoreSource implements ChunkSource {

  /** What a request to another manager is worth: some megabytes. */
  private static final int COLD_CHUNKS = 8;

  private final StoreReads reads;
  private final Manifest manifest;
  private final long idHigh;
  private final long idLow;

  /** Whether it looks nowhere else. */
  private final boolean fixed;

  private volatile Located located;

  StoreSource(StoreReads reads, Located located) {
    this(reads, located, false);
  }

  private StoreSource(StoreReads reads, Located located, boolean fixed) {
    this.reads = reads;
    this.located = located;
    this.fixed = fixed;
    manifest = located.manifest();
    ByteBuffer id = key().idBytes();
    idHigh = id.getLong();
    idLow = id.getLong();
  }

  private SegmentKey key() {
    return manifest.segment().key();
  }

  @Override
  public String describe() {
    return key().topic()
        + "-"
        + key().partition()
        + ", offsets "
        + key().startOffset()
        + " to "
        + manifest.segment().endOffset()
        + ", "
        + located.path();
  }

  @Override
  public ChunkKey key(int chunk) {
    return new ChunkKey(idHigh, idLow, chunk);
  }

  @Override
  public long bytes() {
    return manifest.segment().bytes();
  }

  @Override
  public int chunkBytes() {
    return manifest.chunks().chunkBytes();
  }

  @Override
  public int checksum(int chunk) {
    return manifest.chunks().get(chunk);
  }

  @Override
  public void read(int first, ByteBuffer target) throws IOException, InterruptedException {
    int position = target.position();
    Located place = located;
    try {
      reads.read(place, (long) first * chunkBytes(), target);
    } catch (NoSuchFileException e) {
      if (fixed) {
        throw e;
      }
      Located now = reads.locateAgain(key());
      located = now;
      reads.read(now, (long) first * chunkBytes(), target.position(position));
    }
  }

  @Override
  public List<ChunkSource> copies() throws IOException {
    List<ChunkSource> copies = new ArrayList<>();
    if (!fixed) {
      for (Located copy : reads.copies(key())) {
        copies.add(new StoreSource(reads, copy, true));
      }
    }
    return copies;
  }

  @Override
  public void isReplacedBy(ChunkSource copy, IOException why) {
    if (copy instanceof StoreSource other) {
      Located before = located;
      located = other.located;
      reads.replaced(before, other.located, why);
    }
  }

  @Override
  public void hasFailed(IOException why) {
    if (located.hasLog()) {
      reads.failed(located, why);
    }
  }

  @Override
  public int chunksAtOnce() {
    return located.hasLog() ? 1 : COLD_CHUNKS;
  }

  @Override
  public Optional<ChunkSource> next() throws IOException {
    return reads.next(manifest.segment()).map(place -> new StoreSource(reads, place));
  }
}
