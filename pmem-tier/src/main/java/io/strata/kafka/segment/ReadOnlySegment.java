package io.strata.kafka.segment;

import io.strata.kafka.pool.PoolReader;
import io.strata.kafka.pool.SlotSnapshot;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.OpenOption;
import java.util.Optional;
import java.util.Set;

/**
 * A hot segment as a process sees it that does not write the pool, such as one of Kafka's tools,
 * while the broker may be appending to the segment, truncating or deleting it.
 *
 * <p>Each read takes a snapshot of the slot and asks after it whether that still holds: bytes of
 * another segment are never returned. When the broker has deleted the segment or moved it out of
 * the pool, a read fails and says so.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
public final class ReadOnlySegment {

  private final PoolReader pool;
  private final SegmentTag tag;

  /**
   * The segment that a log file's tag names.
   *
   * @param pool the tag's pool; stays open as long as channels on the segment are used
   */
  public ReadOnlySegment(PoolReader pool, SegmentTag tag) {
    if (!pool.info().id().equals(tag.pool())) {
      throw new IllegalArgumentException(
          "The tag names pool " + tag.pool() + ", found " + pool.info().id());
    }
    this.pool = pool;
    this.tag = tag;
  }

  /** The tag. */
  public SegmentTag tag() {
    return tag;
  }

  /** The slot at this moment; empty when it has gone on to another segment or to none. */
  public Optional<SlotSnapshot> slot() throws IOException {
    return pool.read(tag.slot(), tag.generation());
  }

  /**
   * The segment's length in bytes at this moment, wherever they are.
   *
   * @param logFile open for reading
   * @throws IOException when the segment is not in the pool any more
   */
  public long size(FileChannel logFile) throws IOException {
    return new ReadOnlyBytes(pool, tag).size(logFile);
  }

  /**
   * Opens a channel for reading, as {@link Segment#open} does.
   *
   * @param logFile as there, opened with READ
   * @throws AccessDeniedException when the options want to write
   */
  public FileChannel open(FileChannel logFile, Set<? extends OpenOption> options)
      throws IOException {
    boolean done = false;
    try {
      ReadOnlyBytes bytes = new ReadOnlyBytes(pool, tag);
      OpenMode mode = OpenMode.of(options);
      if (mode.writable()) {
        throw new AccessDeniedException(
            bytes.name(), null, "only the broker that owns the pool may write to its segments");
      }
      Lifetime lifetime = new Lifetime(() -> {});
      lifetime.channelOpened(bytes.name(), logFile);
      FileChannel channel =
          new SegmentChannel(bytes, logFile, mode, () -> {}, lifetime, SegmentEvents.NONE);
      done = true;
      return channel;
    } finally {
      if (!done) {
        logFile.close();
      }
    }
  }
}
