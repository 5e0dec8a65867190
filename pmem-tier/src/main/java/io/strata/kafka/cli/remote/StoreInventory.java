package io.strata.kafka.cli.remote;

import io.strata.kafka.cli.terminal.Failures;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.keep.StoreInspection;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreIdentity;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/** The segments of a store, by listing its directories. */
final class StoreInventory {
  static final Comparator<SegmentKey> ORDER =
      Comparator.comparing(SegmentKey::topic)
          .thenComparing(SegmentKey::topicId)
          .thenComparing(SegmentKey::partition)
          .thenComparing(SegmentKey::startOffset)
          .thenComparing(SegmentKey::id);

  private final Predicate<SegmentKey> chosen;
  private final Map<String, Segment> segments = new LinkedHashMap<>();
  private final List<String> findings = new ArrayList<>();

  /** The first directory of the store that was read. */
  private Optional<StoreIdentity> identity = Optional.empty();

  private final Map<String, Path> byDirectoryId = new HashMap<>();

  private StoreInventory(Predicate<SegmentKey> chosen) {
    this.chosen = chosen;
  }

  record Copy(StorePlaces.Place place, StoreInspection.Found found) {}

  /** One segment, by its copies: at least one, the fastest level first. */
  record Segment(List<Copy> copies) {

    StoreInspection.Found first() {
      return copies.get(0).found();
    }

    SegmentKey key() {
      return first().key();
    }
  }

  /** Reads all manifests of some directories; throws if one of these does not answer. */
  static StoreInventory of(List<StorePlaces.Place> places, Predicate<SegmentKey> chosen)
      throws IOException, InterruptedException {
    StoreInventory inventory = new StoreInventory(chosen);
    for (StorePlaces.Place place : places) {
      inventory.read(place);
    }
    return inventory;
  }

  private void read(StorePlaces.Place place) throws IOException, InterruptedException {
    Path directory = place.directory();
    try {
      boolean unused = place.whileItAnswers("listing", control -> list(place));
    } catch (StoreUnavailableException e) {
      throw e;
    } catch (NoSuchFileException e) {
      findings.add(
          """
          %s: found no %s, expected a directory of a remote store that a broker has used: is its \
          file system mounted?\
          """
              .formatted(directory, Path.of(String.valueOf(e.getFile())).getFileName()));
    } catch (IOException e) {
      findings.add("%s: cannot be read: %s".formatted(directory, Failures.messageOf(e)));
    }
  }

  private boolean list(StorePlaces.Place place) throws IOException {
    Path directory = place.directory();
    if (!isOfThisStore(directory, StoreIdentity.read(directory))) {
      return false;
    }
    StoreInspection.list(
        directory,
        chosen,
        found ->
            segments
                .computeIfAbsent(found.key().id(), id -> new Segment(new ArrayList<>()))
                .copies()
                .add(new Copy(place, found)),
        findings::add);
    return true;
  }

  private boolean isOfThisStore(Path directory, StoreIdentity found) {
    StoreIdentity first = identity.orElse(found);
    identity = Optional.of(first);
    if (!found.storeId().equals(first.storeId())) {
      findings.add(
          """
          %s: found a directory of store %s (cluster %s), expected one of store %s (cluster %s), \
          as the others\
          """
              .formatted(
                  directory,
                  found.storeId(),
                  found.clusterId(),
                  first.storeId(),
                  first.clusterId()));
      return false;
    }
    Path same = byDirectoryId.putIfAbsent(found.directoryId(), directory);
    if (same != null) {
      findings.add(
          """
          %s: found the directory that %s is (%s in %s), expected each once: it is mounted, \
          linked or copied twice\
          """
              .formatted(directory, same, found.directoryId(), StoreNames.IDENTITY));
    }
    return true;
  }

  List<Segment> segments() {
    return segments.values().stream().sorted(Comparator.comparing(Segment::key, ORDER)).toList();
  }

  List<Copy> copies() {
    return segments().stream().flatMap(segment -> segment.copies().stream()).toList();
  }

  /** Bytes of all copies, with indexes. */
  long storedBytes() {
    return copies().stream().mapToLong(copy -> copy.found().bytes()).sum();
  }

  /** Returns the problems, unreadable files among them: a sentence each, with its path. */
  List<String> findings() {
    return findings;
  }

  /** Returns the name of a sum: of what is in the store, or only of what could be read. */
  String total() {
    return findings.isEmpty() ? "total" : "total of what could be read";
  }

  /** The store; empty if no directory could be read. */
  Optional<StoreIdentity> identity() {
    return identity;
  }
}
