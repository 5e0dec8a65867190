package io.strata.kafka.migration.remote.store;

import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What the store is made of, for what moves, repairs, deletes and lists segments.
 *
 * @param options what it was opened with
 * @param directories the fastest level first
 * @param known what is known of the segments
 * @param lookup finds segments on disk
 * @param placement chooses where copies go
 * @param publishing gives copies their place, and takes them away
 * @param copies copies files of segments, checked
 * @param deletions those that are done later
 * @param cold what another manager has
 * @param inMotion segments that a move of this process is about, by their ids
 * @param heat how much is read from each segment
 */
record StoreParts(
    StoreOptions options,
    List<StoreDirectory> directories,
    KnownSegments known,
    CopyLookup lookup,
    CopyPlacement placement,
    CopyPublishing publishing,
    CheckedCopies copies,
    PendingDeletions deletions,
    ColdCopies cold,
    Set<String> inMotion,
    ReadHeat heat) {

  InstantSource clock() {
    return options.clock();
  }

  void reached(StoreStage stage) {
    options.stages().reached(stage);
  }

  /** The levels, the fastest first. */
  List<Level> levels() {
    Stream<Level> own =
        IntStream.range(0, options.levels().size())
            .mapToObj(number -> new DirectoryLevel(this, number));
    return (cold.isConfigured() ? Stream.concat(own, Stream.of(new ColdLevel(this))) : own)
        .toList();
  }
}
