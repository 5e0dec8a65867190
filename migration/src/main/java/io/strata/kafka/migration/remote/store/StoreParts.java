package io.strata.kafka.migration.remote.store;

import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The store's parts, for what moves, repairs, deletes and lists segments.
 *
 * @param options what it was opened with
 * @param directories the fastest level first
 * @param deletions those that are done later
 * @param cold what another manager has
 * @param inMotion segments that a move of this process is about, by their ids
 */
record StoreParts(
    StoreOptions options,
    List<StoreDirectory> directories,
    KnownSegments known,
    CopyLookup lookup,
    CopyPlacement placement,
    CopyPublishing publishing,
    ObjectFiles files,
    PendingDeletions deletions,
    ColdCopies cold,
    Set<String> inMotion,
    ReadHeat heat) {

  InstantSource clock() {
    return options.clock();
  }

  String storeId() {
    return directories.get(0).identity().storeId();
  }

  void reached(StoreStage stage) {
    options.stages().reached(stage);
  }

  /** The levels, the fastest first. */
  List<Level> levels() {
    Stream<Level> own =
        IntStream.range(0, options.levels().size())
            .mapToObj(number -> new DirectoryLevel(this, number));
    return Stream.concat(own, cold.manager().map(manager -> new ColdLevel(this)).stream()).toList();
  }
}
