package io.strata.kafka.migration.remote.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.migration.remote.store.KnownSegment.StoredCopy;
import io.strata.kafka.migration.remote.store.disk.CopyMarks;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.disk.StoreListing;
import io.strata.kafka.migration.remote.store.layout.JsonFile.CorruptManifestException;
import io.strata.kafka.migration.remote.store.layout.Manifest;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;

/**
 * The segments of the store, in memory: made by listing the directories, kept up to date by what
 * this broker does, and listed again now and then, for what others do. It is only ever a hint: what
 * acts on it looks at the disk.
 */
public final class KnownSegments {

  private record Place(String id, StoreDirectory directory) {}

  /**
   * A listing that is under way.
   *
   * @param changes how many there were when it began
   */
  private record Listing(StoreDirectory directory, long number, long changes) {}

  /**
   * A look of a listing at a copy. All that it says follows from the names in the copy's directory,
   * and a name that comes or goes changes the directory's modification time.
   *
   * @param changed the modification time
   * @param since when that was first seen
   * @param settled whether the look came so much later that a change since has another time
   */
  private record Look(FileTime changed, long since, boolean settled) {
    static Look after(Optional<Look> before, FileTime changed, long now) {
      long since = before.map(Look::since).orElse(now);
      return new Look(changed, since, now - since > COARSE.toNanos());
    }
  }

  /** Modification times are as coarse as this, or finer. */
  private static final Duration COARSE = Duration.ofSeconds(10);

  private final ColdCopies cold;
  private final LongSupplier nanoTime;
  private final Map<String, KnownSegment> byId = new ConcurrentHashMap<>();
  private final Map<Long, KnownSegment> byNumber = new ConcurrentHashMap<>();

  @GuardedBy("this")
  private final Map<StoreDirectory, Long> used = new HashMap<>();

  /** Rises with every change; shows which changes a listing cannot have seen. */
  @GuardedBy("this")
  private long changes;

  /** When this broker last changed a copy, until a listing has seen it. */
  @GuardedBy("this")
  private final Map<Place, Long> changed = new HashMap<>();

  @GuardedBy("this")
  private long listings;

  /** The number of each directory's latest listing. */
  @GuardedBy("this")
  private final Map<StoreDirectory, Long> latest = new HashMap<>();

  /** The ids of which a directory's latest listing could not read the manifest. */
  @GuardedBy("this")
  private final Map<StoreDirectory, Set<String>> withoutManifest = new HashMap<>();

  /** Rises with each change of what is known. */
  private final AtomicLong version = new AtomicLong();

  @GuardedBy("this")
  private final Map<Place, Look> looks = new HashMap<>();

  @GuardedBy("this")
  private long numbers;

  KnownSegments(ColdCopies cold, LongSupplier nanoTime) {
    this.cold = cold;
    this.nanoTime = nanoTime;
  }

  /** All segments, in no particular order. */
  public List<KnownSegment> entries() {
    return List.copyOf(byId.values());
  }

  /**
   * Returns how many segments are in the directories of which no manifest can be read: nothing says
   * what they are. The ones that another version of Strata has written do not count.
   */
  synchronized long withoutManifest() {
    return withoutManifest.values().stream()
        .flatMap(Set::stream)
        .distinct()
        .filter(id -> !byId.containsKey(id))
        .count();
  }

  Optional<KnownSegment> find(String id) {
    return Optional.ofNullable(byId.get(id));
  }

  /** Returns a number that is another one when {@link #entries} may have changed. */
  public long version() {
    return version.get();
  }

  public Optional<KnownSegment> numbered(long number) {
    return Optional.ofNullable(byNumber.get(number));
  }

  /** Returns what the store takes in a directory, as far as it is known. */
  public synchronized long usedBytes(StoreDirectory directory) {
    return used.getOrDefault(directory, 0L);
  }

  /** This broker has published a copy, or changed what one has. */
  public synchronized void put(Manifest manifest, StoredCopy copy) {
    mark(manifest.segment().key().id(), copy.directory());
    putWithoutMark(manifest, copy);
  }

  /** This broker has removed a copy, or found that it is not there. */
  public synchronized void remove(String id, StoreDirectory directory) {
    mark(id, directory);
    removeWithoutMark(id, directory);
  }

  /** This broker has changed what a copy has. */
  public synchronized void change(
      String id, StoreDirectory directory, UnaryOperator<StoredCopy> to) {
    mark(id, directory);
    update(id, directory, copy -> Optional.of(to.apply(copy)));
  }

  @GuardedBy("this")
  private void update(
      String id, StoreDirectory directory, Function<StoredCopy, Optional<StoredCopy>> to) {
    KnownSegment entry = byId.get(id);
    if (entry != null && entry.in(directory).isPresent()) {
      replace(entry, directory, entry.in(directory).flatMap(to));
    }
  }

  @GuardedBy("this")
  private void mark(String id, StoreDirectory directory) {
    changes++;
    Place place = new Place(id, directory);
    changed.put(place, changes);
    looks.remove(place);
  }

  @GuardedBy("this")
  private void putWithoutMark(Manifest manifest, StoredCopy copy) {
    KnownSegment entry = byId.get(manifest.segment().key().id());
    if (entry == null) {
      numbers++;
      add(
          new KnownSegment(
              numbers,
              manifest.segment(),
              manifest.totalBytes(),
              manifest.diskBytes(),
              List.of(copy)));
    } else {
      replace(entry, copy.directory(), Optional.of(copy));
    }
  }

  @GuardedBy("this")
  private void removeWithoutMark(String id, StoreDirectory directory) {
    looks.remove(new Place(id, directory));
    update(id, directory, copy -> Optional.empty());
  }

  /**
   * Records another copy in a directory, or none; without any copy the segment is not known any
   * more.
   */
  @GuardedBy("this")
  private void replace(KnownSegment entry, StoreDirectory directory, Optional<StoredCopy> copy) {
    List<StoredCopy> copies = new ArrayList<>(entry.copies());
    copies.removeIf(c -> c.directory().equals(directory));
    copy.ifPresent(copies::add);
    copies.sort(Comparator.comparingInt(c -> c.directory().level()));
    byId.remove(entry.key().id());
    byNumber.remove(entry.number());
    count(entry, -1);
    if (!copies.isEmpty()) {
      add(entry.with(copies));
    }
    long unused = version.incrementAndGet();
  }

  @GuardedBy("this")
  private void add(KnownSegment entry) {
    byId.put(entry.key().id(), entry);
    byNumber.put(entry.number(), entry);
    count(entry, 1);
    long unused = version.incrementAndGet();
  }

  @GuardedBy("this")
  private void count(KnownSegment entry, int sign) {
    for (StoredCopy copy : entry.copies()) {
      Long unused = used.merge(copy.directory(), sign * entry.diskBytesIn(copy), Long::sum);
    }
  }

  /**
   * Lists a directory, and takes over what is there. Manifests are read of segments that were not
   * known there, and copies are looked at whose directories have changed since they were.
   *
   * <p>The later one of two listings of a directory counts, and the other ends: it may have hung
   * for a long time in a mount that was replaced.
   *
   * @param progress runs for each segment
   * @return what could not be read: a message each; what was known below a partition or a topic
   *     that cannot be listed stays
   * @throws IOException if the directory cannot be listed; what was known of it stays
   */
  public List<String> refresh(StoreDirectory directory, Runnable progress) throws IOException {
    Listing listing;
    synchronized (this) {
      listings++;
      listing = new Listing(directory, listings, changes);
      latest.put(directory, listings);
    }
    directory.probe();
    List<String> problems = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    Set<String> unread = new HashSet<>();
    List<Path> unlisted = new ArrayList<>();
    StoreListing.list(
        directory.path(),
        new StoreListing.Visitor<RuntimeException>() {
          @Override
          public void segment(SegmentKey key, Path path, BasicFileAttributes attributes)
              throws IOException {
            progress.run();
            checkLatest(listing);
            seen.add(key.id());
            try {
              look(listing, key, path, attributes.lastModifiedTime());
            } catch (NoSuchFileException e) {
              seen.remove(key.id()); // It is just being removed.
            } catch (IOException e) {
              problems.add(String.valueOf(e.getMessage()));
              if (!CorruptManifestException.isOfOtherVersion(e)) {
                unread.add(key.id());
              }
            }
          }

          @Override
          public void unlisted(Path path, IOException failure) {
            progress.run();
            unlisted.add(path);
            problems.add(path + ": cannot be listed: " + StoreDirectory.reason(failure));
          }
        });
    directory.probe(); // An unmount in the midst of the listing looks like an end.
    forget(listing, seen, unlisted, unread);
    return problems;
  }

  private void look(Listing listing, SegmentKey key, Path path, FileTime modified)
      throws IOException {
    StoreDirectory directory = listing.directory();
    Optional<Look> before = lastLook(new Place(key.id(), directory), modified);
    if (before.filter(Look::settled).isPresent()) {
      return;
    }
    Look look = Look.after(before, modified, nanoTime.getAsLong());
    StoredCopy copy = copyOnDisk(directory, key, path);
    if (find(key.id()).flatMap(known -> known.in(directory)).equals(Optional.of(copy))) {
      looked(listing, key.id(), look);
      return;
    }
    try {
      Manifest manifest = Manifest.read(path, key);
      synchronized (this) {
        if (hasSeen(listing, key.id())) {
          putWithoutMark(manifest, copy);
        }
      }
      looked(listing, key.id(), look);
    } catch (CorruptManifestException e) {
      boolean unused =
          !CorruptManifestException.isOfOtherVersion(e) && putDamaged(listing, key, copy);
      throw e;
    } catch (NoSuchFileException e) {
      if (!FileStatus.isThere(path) || !putDamaged(listing, key, copy)) {
        throw e; // It has just been removed, or nothing says what it was.
      }
      throw new IOException(e.getFile() + ": is missing", e);
    }
  }

  /** Returns the latest look; empty if the copy's directory has changed since. */
  private synchronized Optional<Look> lastLook(Place place, FileTime modified) {
    return Optional.ofNullable(looks.get(place)).filter(look -> look.changed().equals(modified));
  }

  /** Remembers a look whose finding is known now: this broker has not changed the copy since. */
  private synchronized void looked(Listing listing, String id, Look look) {
    KnownSegment entry = byId.get(id);
    if (entry != null && hasSeen(listing, id)) {
      // With the id that is kept anyway: there are many.
      looks.put(new Place(entry.key().id(), listing.directory()), look);
    }
  }

  /** A copy without a right manifest is known if another copy says what the segment is. */
  private synchronized boolean putDamaged(Listing listing, SegmentKey key, StoredCopy copy) {
    KnownSegment entry = byId.get(key.id());
    if (entry == null || !hasSeen(listing, key.id())) {
      return false;
    }
    replace(entry, copy.directory(), Optional.of(copy.withDamage(true)));
    return true;
  }

  private synchronized void checkLatest(Listing listing) throws IOException {
    if (!isLatest(listing)) {
      throw new IOException(listing.directory() + ": another listing has begun since");
    }
  }

  /**
   * Returns whether a listing has seen all that this broker did to a copy, and none has begun
   * since.
   */
  @GuardedBy("this")
  private boolean hasSeen(Listing listing, String id) {
    return isLatest(listing)
        && changed.getOrDefault(new Place(id, listing.directory()), 0L) <= listing.changes();
  }

  @GuardedBy("this")
  private boolean isLatest(Listing listing) {
    return latest.getOrDefault(listing.directory(), 0L) == listing.number();
  }

  /** A copy as it is on disk at this moment. */
  public StoredCopy copyOnDisk(StoreDirectory directory, SegmentKey key, Path path)
      throws IOException {
    return new StoredCopy(
        directory,
        FileStatus.isThere(path.resolve(ObjectType.LOG.fileName(key))),
        cold.has(path),
        CopyMarks.isMoving(path),
        CopyMarks.isDamaged(path));
  }

  private synchronized void forget(
      Listing listing, Set<String> seen, List<Path> unlisted, Set<String> unread) {
    if (!isLatest(listing)) {
      return;
    }
    StoreDirectory directory = listing.directory();
    withoutManifest.put(directory, unread);
    for (KnownSegment entry : entries()) {
      String id = entry.key().id();
      if (!seen.contains(id)
          && hasSeen(listing, id)
          && (unlisted.isEmpty()
              || unlisted.stream().noneMatch(directory.segment(entry.key())::startsWith))) {
        removeWithoutMark(id, directory);
      }
    }
    changed
        .entrySet()
        .removeIf(
            e -> e.getKey().directory().equals(directory) && e.getValue() <= listing.changes());
  }
}
