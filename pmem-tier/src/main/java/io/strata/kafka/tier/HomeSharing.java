package io.strata.kafka.tier;

import io.strata.kafka.api.SegmentName;
import io.strata.kafka.memory.Reflink;
import io.strata.kafka.migration.remote.LocalSegments.Sharing;
import io.strata.kafka.segment.Segment;
import io.strata.kafka.segment.StoreLink;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Gives the remote tier's store the bytes of homes without copying them: a file that shares home's
 * blocks where the file system has such, else a second name of home's file.
 *
 * <p>A second name is given only where every change of home comes through a channel of ours, which
 * breaks the link first ({@link StoreLink}). The steps, each durable before the next: home's bytes;
 * the attribute that names the link; the segment is told; the link. A crash between them leaves an
 * attribute that counts for nothing, or a link that the attribute names.
 *
 * <p>Thread safety: all methods may be called by any thread. The sharing itself is done under the
 * segment's writer lock, so that no change comes between.
 */
final class HomeSharing {

  private final LogDirectories logDirectories;
  private final HomeNames names;
  private final HotSegments hot;
  private final HomeSegments atHome;

  HomeSharing(
      LogDirectories logDirectories, HomeNames names, HotSegments hot, HomeSegments atHome) {
    this.logDirectories = logDirectories;
    this.names = names;
    this.hot = hot;
    this.atHome = atHome;
  }

  /**
   * See {@link io.strata.kafka.migration.remote.LocalSegments#share}.
   *
   * @param name the segment's file, below its directory's real path
   */
  @SuppressWarnings("try") // what is held is only to be released
  Sharing share(Path name, Path target, Path published) throws IOException {
    if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
      throw new FileAlreadyExistsException(target.toString());
    }
    if (!isSealed(name)) {
      return Sharing.NONE;
    }
    Optional<TieredSegment> known = find(name);
    if (known.isPresent()) {
      return shareKnown(known.get(), target, published);
    }
    // Nobody has a channel of ours on it, and nobody gets one as long as its name is held.
    try (PathLocks.Held held = names.lock(name)) {
      if (find(name).isEmpty()) {
        Link link = new Link(target, published, nobody -> {});
        return isWhole(name, Files.size(name)) ? share(name, link, true) : Sharing.NONE;
      }
    }
    return shareKnown(find(name).orElseThrow(() -> gone(name)), target, published);
  }

  private Optional<TieredSegment> find(Path name) throws IOException {
    Optional<TieredSegment> known = hot.find(name);
    return known.isPresent() ? known : atHome.find(name);
  }

  private static NoSuchFileException gone(Path name) {
    return new NoSuchFileException(name.toString(), null, "it was deleted or moved just now");
  }

  /** Whether Kafka appends to it no more: a later segment is beside it. */
  private boolean isSealed(Path name) throws IOException {
    Optional<SegmentName> segment = SegmentNames.of(name);
    Path partition = name.getParent();
    if (segment.isEmpty()
        || partition == null
        || segment.get().stage() != SegmentName.Stage.LIVE
        || segment.get().replica() != SegmentName.Replica.CURRENT
        || logDirectories.placeOf(name).isEmpty()) {
      return false;
    }
    long offset = segment.get().id().baseOffset();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(partition, "*.log")) {
      for (Path file : files) {
        Optional<SegmentName> other = SegmentNames.of(file);
        if (other.isPresent() && other.get().id().baseOffset() > offset) {
          return true;
        }
      }
      return false;
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
  }

  private Sharing shareKnown(TieredSegment known, Path target, Path published) throws IOException {
    Segment segment = known.segment();
    if (!known.atHome() && !Evictions.isClean(known)) {
      return Sharing.NONE;
    }
    // First without a lock: most of what has not been written back, if anything.
    Directories.force(known.home());
    return names.with(
        known,
        home ->
            segment
                .shareHome(
                    () -> known.lower().isEmpty(),
                    (size, mayLink) -> {
                      if (!isWhole(home, size)) {
                        return Optional.of(Sharing.NONE);
                      }
                      Link link = new Link(target, published, segment::linked);
                      return Optional.of(share(home, link, mayLink));
                    })
                .orElse(Sharing.NONE));
  }

  private static boolean isWhole(Path home, long size) throws IOException {
    return size > 0 && Files.size(home) == size && !HollowHome.test(home);
  }

  /**
   * A link to be made.
   *
   * @param target its name now
   * @param published its name later
   * @param told of it before it is made
   */
  private record Link(Path target, Path published, Consumer<StoreLink> told) {}

  private Sharing share(Path home, Link link, boolean mayLink) throws IOException {
    HomeKeeper.forceEntries(home);
    if (Reflink.make(home, link.target())) {
      return Sharing.REFLINK;
    }
    return mayLink && atHome.mayBecomeHot(home) && link(home, link)
        ? Sharing.HARD_LINK
        : Sharing.NONE;
  }

  private static boolean link(Path home, Link link) throws IOException {
    Path directory = Directories.of(link.target());
    if (StoreLink.names(home) != 1 || !sameFileSystem(home, directory)) {
      return false;
    }
    boolean done = false;
    try {
      link.told().accept(StoreLink.record(home, link.published(), link.target()));
      Path unused = Files.createLink(link.target(), home);
      done = true;
      return true;
    } catch (FileAlreadyExistsException | NoSuchFileException e) {
      throw e;
    } catch (FileSystemException | UnsupportedOperationException refused) {
      // No hard links there, too many of this file, or no room for the attribute: it is copied.
      return false;
    } finally {
      if (!done) {
        StoreLink.forget(home);
      }
    }
  }

  private static boolean sameFileSystem(Path one, Path other) throws IOException {
    return one.getFileSystem().supportedFileAttributeViews().contains("unix")
        && Files.getAttribute(one, "unix:dev").equals(Files.getAttribute(other, "unix:dev"));
  }
}
