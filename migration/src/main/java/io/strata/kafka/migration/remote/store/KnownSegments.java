package io.strata.kafka.migration.remote.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

/**
 * What is in the store, in memory: made by listing the directories, kept up to date by what this
 * broker does, and listed again now and then, for what others do. It is only ever a hint: what acts
 * on it looks at the disk.
 *
 * <p>Thread safety: all methods may be called by any number of threads; {@link #refresh} of one
 * directory by one at a time.
 */
final class KnownSegments {

  private final ColdCopies cold;

  private record Partition(String topicId, int partition) {}

  private record Place(String id, StoreDirectory directory) {}

  private final Map<String, KnownSegment> byId = new ConcurrentHashMap<>();
  private final Map<Long, String> ids = new ConcurrentHashMap<>();

  @GuardedBy("this")
  private final Map<Partition, NavigableMap<Long, List<KnownSegment>>> byPartition =
      new HashMap<>();

  @GuardedBy("this")
  private final Map<StoreDirectory, Long> used = new HashMap<>();

  /** Rises with every change; tells which changes a listing cannot have seen. */
  @GuardedBy("this")
  private long changes;

  /** When this broker last changed a copy, until a listing has seen it. */
  @GuardedBy("this")
  private final Map<Place, Long> changed = new HashMap<>();

  @GuardedBy("this")
  private long numbers;

  /** An empty one. */
  KnownSegments(ColdCopies cold) {
    this.cold = cold;
  }

  /** All segments, in no particular order. */
  List<KnownSegment> entries() {
    return List.copyOf(byId.values());
  }

  Optional<KnownSegment> find(String id) {
    return Optional.ofNullable(byId.get(id));
  }

  /** The segment with a number of this process. */
  Optional<KnownSegment> numbered(long number) {
    return Optional.ofNullable(ids.get(number)).flatMap(this::find);
  }

  /** The end of the last segment of a partition; empty if it has none. */
  synchronized Optional<Long> endOffset(String topicId, int partition) {
    NavigableMap<Long, List<KnownSegment>> segments =
        byPartition.get(new Partition(topicId, partition));
    if (segments == null || segments.isEmpty()) {
      return Optional.empty();
    }
    return segments.lastEntry().getValue().stream()
        .map(e -> e.segment().endOffset())
        .max(Comparator.naturalOrder());
  }

  /** What the store takes in a directory. */
  synchronized long usedBytes(StoreDirectory directory) {
    return used.getOrDefault(directory, 0L);
  }

  /** This broker has published a copy, or changed what one has. */
  synchronized void put(Manifest manifest, StoredCopy copy) {
    mark(manifest.segment().key().id(), copy.directory());
    putWithoutMark(manifest, copy);
  }

  /** This broker has removed a copy, or found that it is not there. */
  synchronized void remove(String id, StoreDirectory directory) {
    mark(id, directory);
    removeWithoutMark(id, directory);
  }

  /** This broker has changed what a copy has. */
  synchronized void change(String id, StoreDirectory directory, UnaryOperator<StoredCopy> to) {
    mark(id, directory);
    KnownSegment entry = byId.get(id);
    if (entry != null && entry.in(directory).isPresent()) {
      replace(entry, withCopy(entry, to.apply(entry.in(directory).get())));
    }
  }

  @GuardedBy("this")
  private void mark(String id, StoreDirectory directory) {
    changes++;
    changed.put(new Place(id, directory), changes);
  }

  @GuardedBy("this")
  private void putWithoutMark(Manifest manifest, StoredCopy copy) {
    String id = manifest.segment().key().id();
    KnownSegment entry = byId.get(id);
    if (entry == null) {
      numbers++;
      add(
          new KnownSegment(
              numbers,
              manifest.segment(),
              manifest.totalBytes(),
              manifest.createdMillis(),
              List.of(copy)));
    } else {
      replace(entry, withCopy(entry, copy));
    }
  }

  private static KnownSegment withCopy(KnownSegment entry, StoredCopy copy) {
    List<StoredCopy> copies = new ArrayList<>(entry.copies());
    copies.removeIf(c -> c.directory().equals(copy.directory()));
    copies.add(copy);
    copies.sort(Comparator.comparingInt(c -> c.directory().level()));
    return new KnownSegment(
        entry.number(), entry.segment(), entry.totalBytes(), entry.createdMillis(), copies);
  }

  @GuardedBy("this")
  private void removeWithoutMark(String id, StoreDirectory directory) {
    KnownSegment entry = byId.get(id);
    if (entry == null) {
      return;
    }
    List<StoredCopy> copies = new ArrayList<>(entry.copies());
    if (!copies.removeIf(c -> c.directory().equals(directory))) {
      return;
    }
    drop(entry);
    if (!copies.isEmpty()) {
      add(
          new KnownSegment(
              entry.number(), entry.segment(), entry.totalBytes(), entry.createdMillis(), copies));
    }
  }

  @GuardedBy("this")
  private void replace(KnownSegment old, KnownSegment entry) {
    drop(old);
    add(entry);
  }

  @GuardedBy("this")
  private void add(KnownSegment entry) {
    SegmentKey key = entry.key();
    byId.put(key.id(), entry);
    ids.put(entry.number(), key.id());
    byPartition
        .computeIfAbsent(new Partition(key.topicId(), key.partition()), p -> new TreeMap<>())
        .computeIfAbsent(key.startOffset(), o -> new ArrayList<>())
        .add(entry);
    for (StoredCopy copy : entry.copies()) {
      Long unused = used.merge(copy.directory(), entry.bytesIn(copy), Long::sum);
    }
  }

  @GuardedBy("this")
  private void drop(KnownSegment entry) {
    SegmentKey key = entry.key();
    byId.remove(key.id());
    ids.remove(entry.number());
    Partition partition = new Partition(key.topicId(), key.partition());
    NavigableMap<Long, List<KnownSegment>> segments = byPartition.get(partition);
    if (segments != null) {
      List<KnownSegment> same = segments.getOrDefault(key.startOffset(), List.of());
      same.removeIf(e -> e.number() == entry.number());
      if (same.isEmpty()) {
        segments.remove(key.startOffset());
      }
      if (segments.isEmpty()) {
        byPartition.remove(partition);
      }
    }
    for (StoredCopy copy : entry.copies()) {
      Long unused = used.merge(copy.directory(), -entry.bytesIn(copy), Long::sum);
    }
  }

  /**
   * Lists a directory, and takes over what is there. Manifests are read of segments that were not
   * known there.
   *
   * @return what could not be read: a message each
   * @throws IOException if the directory cannot be listed; what was known of it stays
   */
  List<String> refresh(StoreDirectory directory) throws IOException {
    long began;
    synchronized (this) {
      began = changes;
    }
    directory.probe();
    List<String> problems = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    StoreListing.list(
        directory.path(),
        new StoreListing.Visitor() {
          @Override
          public void segment(SegmentKey key, Path path) {
            seen.add(key.id());
            try {
              look(directory, key, path, began);
            } catch (NoSuchFileException e) {
              seen.remove(key.id()); // It is just being removed.
            } catch (IOException e) {
              problems.add(String.valueOf(e.getMessage()));
            }
          }

          @Override
          public void stranger(Path path) {
            // The scrub reports it.
          }
        });
    directory.probe(); // An unmount in the midst of the listing looks like an end.
    forget(directory, seen, began);
    return problems;
  }

  private void look(StoreDirectory directory, SegmentKey key, Path path, long began)
      throws IOException {
    StoredCopy copy = copyOnDisk(directory, key, path);
    Optional<KnownSegment> known = find(key.id());
    if (known.isPresent() && known.get().in(directory).equals(Optional.of(copy))) {
      return;
    }
    Manifest manifest = ManifestCodec.read(path, key);
    synchronized (this) {
      if (changed.getOrDefault(new Place(key.id(), directory), 0L) <= began) {
        putWithoutMark(manifest, copy);
      }
    }
  }

  /** A copy as it is on disk at this moment. */
  StoredCopy copyOnDisk(StoreDirectory directory, SegmentKey key, Path path) throws IOException {
    return new StoredCopy(
        directory,
        Disk.isThere(path.resolve(ObjectType.LOG.fileName(key))),
        cold.has(path),
        CopyMarks.isMoving(path),
        CopyMarks.isDamaged(path));
  }

  private synchronized void forget(StoreDirectory directory, Set<String> seen, long began) {
    for (KnownSegment entry : entries()) {
      String id = entry.key().id();
      if (entry.in(directory).isPresent()
          && !seen.contains(id)
          && changed.getOrDefault(new Place(id, directory), 0L) <= began) {
        removeWithoutMark(id, directory);
      }
    }
    changed
        .entrySet()
        .removeIf(e -> e.getKey().directory().equals(directory) && e.getValue() <= began);
  }
}
