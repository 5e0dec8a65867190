package io.strata.kafka.migration.remote.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Copies a local segment to the first directory in which that succeeds. Used by one thread.
 *
 * @param chunkBytes how the log is divided for its checksums
 * @param local what may share its bytes
 */
record NewCopy(
    SegmentStore store,
    SegmentInfo segment,
    LogSource source,
    int chunkBytes,
    LocalSegments local,
    BytePace pace) {

  /** As {@link SegmentStore#copy}. */
  SegmentStore.Copied make() throws IOException, InterruptedException {
    long bytes = bytes();
    Set<StoreDirectory> tried = new HashSet<>();
    Optional<IOException> failure = Optional.empty();
    while (true) {
      try (CopyPlacement.Reservation space = reserve(bytes, tried, failure)) {
        StoreDirectory directory = space.directory();
        tried.add(directory);
        try {
          return copyTo(directory);
        } catch (IOException e) {
          if (!directory.copyFailed(segment.key(), e)) {
            throw e;
          }
          failure.ifPresent(e::addSuppressed);
          failure = Optional.of(e);
        }
      }
    }
  }

  /** The broker's own files: the caller has a time for all of it. */
  private long bytes() throws IOException, InterruptedException {
    long bytes = (long) segment.bytes() + source.leaderEpochs().remaining();
    for (Path index : source.indexes().values()) {
      bytes += SourceException.reading(() -> Files.size(index));
    }
    return bytes;
  }

  /**
   * Finds space in a directory that was not tried.
   *
   * @param failure of the last directory: is thrown if there is none left
   */
  private CopyPlacement.Reservation reserve(
      long bytes, Set<StoreDirectory> tried, Optional<IOException> failure)
      throws IOException, InterruptedException {
    try {
      return store.placement.reserve(bytes, tried);
    } catch (StoreFullException | StoreUnavailableException e) {
      if (failure.isEmpty()) {
        throw e;
      }
      failure.get().addSuppressed(e);
      throw failure.get();
    }
  }

  private SegmentStore.Copied copyTo(StoreDirectory directory)
      throws IOException, InterruptedException {
    Manifest manifest =
        directory.write(
            "copying %s to %s".formatted(segment.key(), directory),
            control -> {
              BytePace own = pace.unlessCancelled(control);
              return new SegmentCopy(store, directory, segment, source, chunkBytes, own)
                  .make(local, control);
            });
    store.known.put(manifest, StoredCopy.whole(directory));
    directory.access().copied();
    return new SegmentStore.Copied(directory, manifest);
  }
}
