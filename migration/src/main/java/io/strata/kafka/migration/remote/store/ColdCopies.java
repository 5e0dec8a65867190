package io.strata.kafka.migration.remote.store;

import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.migration.remote.store.disk.CopyMarks;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.disk.Disk;
import io.strata.kafka.migration.remote.store.layout.ColdMark;
import io.strata.kafka.migration.remote.store.layout.JsonFile.CorruptManifestException;
import io.strata.kafka.migration.remote.store.layout.Manifest;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * The copies of segments that another manager has: the marks beside their manifests ({@code
 * cold.json}) say so, and it is asked for the bytes. A segment is given by the directory of a copy.
 *
 * @param manager the one that is configured, if one is
 */
public record ColdCopies(Optional<ColdStorage> manager) {

  /**
   * How long another broker's copy is left alone. Longer than a virtual machine is suspended: when
   * it goes on, its manager may remove what a second copy of the segment has made.
   */
  private static final Duration OTHERS = Duration.ofDays(1);

  /**
   * Returns whether the configured manager has said that it has the bytes, by the mark of a copy;
   * what another one has is not at hand.
   */
  public boolean has(Path segment) throws IOException {
    return manager.isPresent() && isMarked(segment) && isOurs(ColdMark.read(segment));
  }

  private boolean isOurs(ColdMark mark) {
    return mark.done() && mark.className().equals(manager.orElseThrow().className());
  }

  /**
   * As {@link #has}; a damaged mark says no and hides nothing else of the copy: a read of the bytes
   * reports it.
   */
  boolean seemsToHave(Path segment) throws IOException {
    try {
      return has(segment);
    } catch (CorruptManifestException e) {
      return false;
    }
  }

  /**
   * Returns whether a manager has, or may have, something of a segment: the mark beside this copy
   * is all by which a deletion finds it.
   */
  public boolean isMarked(Path segment) throws IOException {
    return FileStatus.isThere(segment.resolve(StoreNames.COLD));
  }

  ColdStorage require(Path segment, ColdMark mark) throws StoreUnavailableException {
    ColdStorage found = require(segment);
    if (!found.className().equals(mark.className())) {
      throw new StoreUnavailableException(
          """
          %s: its bytes are with the cold manager %s, found rsm.config.cold.class.name=%s: set it \
          as it was when they were moved there\
          """
              .formatted(segment, SegmentKey.printable(mark.className()), found.className()));
    }
    return found;
  }

  private ColdStorage require(Path segment) throws StoreUnavailableException {
    return manager.orElseThrow(
        () ->
            new StoreUnavailableException(
                """
                %s: its bytes are with the cold manager, and rsm.config.cold.class.name is not \
                set: set it as it was when they were moved there\
                """
                    .formatted(segment)));
  }

  /** Reads bytes of a segment; the mark is that of the copy. */
  void read(Path segment, ColdMark mark, Manifest manifest, long position, ByteBuffer target)
      throws IOException, InterruptedException {
    require(segment, mark).read(manifest, mark.customMetadataBytes(), position, target);
  }

  /**
   * Returns why the manager is not to get a segment; empty if it is.
   *
   * @param nonce names a file for a moment; unique
   */
  Optional<String> isInTheWay(Path segment, int brokerId, String nonce) throws IOException {
    if (!isMarked(segment)) {
      return Optional.empty();
    }
    ColdMark mark = ColdMark.read(segment);
    if (mark.done()) {
      // Only by its mark does a deletion find what another manager has.
      return Optional.of(
          isOurs(mark)
              ? "it is there already"
              : "another cold manager has it: " + SegmentKey.printable(mark.className()));
    }
    // A manager whose copy fails may remove what it finds of the segment, this copy too. The other
    // broker may be cut off from the store, and not be at an end.
    return mark.brokerId().isPresent()
            && mark.brokerId().getAsInt() != brokerId
            && CopyMarks.isRecent(segment.resolve(StoreNames.COLD), OTHERS, nonce)
        ? Optional.of(
            "broker %d began to copy it within the last day".formatted(mark.brokerId().getAsInt()))
        : Optional.empty();
  }

  /**
   * Notes beside a copy that the manager is getting its bytes. This process may have stood still
   * since it asked what is in the way: a mark that another broker has made meanwhile stays. An old
   * mark is looked at once more directly before it is replaced.
   *
   * @return why the manager is not to get them, as {@link #isInTheWay} does; empty if it is noted
   */
  Optional<String> begin(Path segment, int brokerId, String nonce) throws IOException {
    ColdMark begun = ColdMark.begun(require(segment).className(), brokerId);
    if (isMarked(segment)) {
      return Disk.replaceUnless(
          segment.resolve(StoreNames.COLD),
          begun.print(),
          () -> isInTheWay(segment, brokerId, nonce));
    }
    try {
      Disk.createExclusively(segment.resolve(StoreNames.COLD), begun.print());
      return Optional.empty();
    } catch (FileAlreadyExistsException e) {
      return Optional.of("another broker has just begun to copy it");
    }
  }

  /** Notes beside a copy that the manager has its bytes. */
  void done(Path segment, Optional<byte[]> custom) throws IOException {
    mark(segment, ColdMark.done(require(segment).className(), custom));
  }

  private static void mark(Path segment, ColdMark mark) throws IOException {
    Disk.replace(segment.resolve(StoreNames.COLD), mark.print());
  }

  /**
   * Asks the manager to copy a segment. A copy that fails may be going on: a deletion that did not
   * meet it is made up for.
   */
  Optional<byte[]> copy(SegmentStore.Located source) throws IOException, InterruptedException {
    ColdStorage to = require(source.path());
    try {
      return to.copy(source.manifest(), source.path());
    } catch (IOException | RuntimeException e) {
      if (!isMarked(source.path())) {
        to.delete(source.manifest().segment(), Optional.empty());
      }
      throw e;
    }
  }

  /**
   * Asks the manager to delete what it has of a segment, or may have. Kafka's own description of
   * the segment is enough for that: a damaged manifest, or a damaged mark, keeps no segment for
   * ever.
   */
  void deleteMarked(Path place, SegmentInfo segment) throws IOException, InterruptedException {
    if (!isMarked(place)) {
      return;
    }
    ColdStorage from;
    Optional<byte[]> custom = Optional.empty();
    try {
      ColdMark mark = ColdMark.read(place);
      from = require(place, mark);
      custom = mark.customMetadataBytes();
    } catch (CorruptManifestException e) {
      from = require(place);
    } catch (NoSuchFileException e) {
      return; // Another deletion has been faster.
    }
    from.delete(segment, custom);
  }

  /** Another manager, which has the lowest level: copies, reads and deletes segments there. */
  public interface ColdStorage {

    String className();

    /**
     * Has the manager copy a segment. Fails while an earlier copy of it is under way.
     *
     * @param directory the segment's directory in the store, with all its files
     * @return what the manager wants to see again
     */
    Optional<byte[]> copy(Manifest manifest, Path directory)
        throws IOException, InterruptedException;

    /** Returns whether a copy is under way, even if the caller no longer waits. */
    boolean isCopying();

    /**
     * Reads the segment's bytes.
     *
     * @param custom what the manager gave when it copied it
     * @param position from 0
     * @param target gets as many bytes as it has space for; they must be within the segment
     */
    void read(Manifest manifest, Optional<byte[]> custom, long position, ByteBuffer target)
        throws IOException, InterruptedException;

    /** Has the manager delete a segment; without effect if it does not have it. */
    void delete(SegmentInfo segment, Optional<byte[]> custom)
        throws IOException, InterruptedException;
  }
}
