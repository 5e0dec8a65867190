package io.strata.kafka.tier;

import io.strata.kafka.pool.SlotFlag;
import io.strata.kafka.segment.Residence;
import io.strata.kafka.segment.SegmentTag;
import io.strata.kafka.segment.StoreLink;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/**
 * Finds the segment that a file's tag names, and opens it.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
final class HotSegments {

  private final PoolSet pools;
  private final SegmentRegistry registry;
  private final SegmentFactory factory;

  HotSegments(PoolSet pools, SegmentRegistry registry, SegmentFactory factory) {
    this.pools = pools;
    this.registry = registry;
    this.factory = factory;
  }

  /**
   * The segment of a hot file; empty if the file is not there or is not hot.
   *
   * @throws FileSystemException if no pool has the bytes that the tag says are there
   */
  Optional<TieredSegment> find(Path file) throws IOException {
    Optional<SegmentTag> tag = Tags.of(file);
    while (tag.isPresent()) {
      Optional<TieredSegment> found = find(tag.get(), file);
      if (found.isPresent()) {
        return HomeNames.isOfTheStore(file, found.get()) ? Optional.empty() : found;
      }
      // An eviction's new tag, or the removal of the old one, may have come in between.
      Optional<SegmentTag> again = Tags.of(file);
      if (again.equals(tag)) {
        if (StoreLink.isObject(file)) {
          // Home has been deleted, and has left its tag to the store's object.
          return Optional.empty();
        }
        throw lost(tag.get(), file);
      }
      tag = again;
    }
    return Optional.empty();
  }

  /** The segment that a tag names; empty if none does, or none any more. */
  private Optional<TieredSegment> find(SegmentTag tag, Path home) throws IOException {
    Optional<TieredSegment> known = registry.find(tag);
    if (known.isPresent()) {
      return known;
    }
    // One flagged COPY is a segment's other copy: home's tag has gone on to the one above.
    Optional<Residence> live = pools.live(tag).filter(in -> !in.slot().has(SlotFlag.COPY));
    return live.isPresent()
        ? Optional.of(registry.add(factory.inPool(live.get(), home)))
        : Optional.empty();
  }

  /** Home has the tag, and so cannot be read without what that names. */
  private FileSystemException lost(SegmentTag tag, Path home) {
    return new FileSystemException(
        home.toString(),
        null,
        "its extended attribute says that its bytes are in "
            + tag
            + ", and no open pool has them there: "
            + pools.describe()
            + "; restart the broker, whose recovery says what to do");
  }

  /** A channel on a segment, whose home is {@code name} now. */
  FileChannel open(TieredSegment hot, Path name, Set<? extends OpenOption> options)
      throws IOException {
    FileChannel channel = hot.segment().open(HomeChannels.under(name, options), options);
    registry.moved(hot, name);
    return channel;
  }
}
