package io.strata.kafka.nio;

import io.strata.kafka.broker.JdkFileSystem;
import io.strata.kafka.broker.StrataRuntime;
import io.strata.kafka.tier.directory.Marker;
import io.strata.kafka.tier.directory.SegmentFiles;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.FileSystemException;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.FileTime;
import java.nio.file.spi.FileSystemProvider;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * The default file system provider of a JVM whose Kafka segments may be hot. Activated by
 *
 * <pre>-Djava.nio.file.spi.DefaultFileSystemProvider=io.strata.kafka.nio.StrataFileSystemProvider
 * </pre>
 *
 * <p>Everything is the JDK's own provider's, with its results and exceptions, except what is asked
 * of a hot segment: that is opened as a channel on the pool, has its logical size and its time of
 * last modification in every kind of attributes, is copied with all of its bytes, takes its slot
 * along when renamed and frees it when deleted. See {@link SegmentFiles} for what makes a file hot.
 *
 * <p>A log directory's marked {@code meta.properties} is read as Kafka wrote it, and stays marked
 * when Kafka replaces it; see {@link Marker}.
 *
 * <p>What a hot segment refuses, each with a reason: an asynchronous channel, a hard link, {@link
 * StandardOpenOption#DELETE_ON_CLOSE} and direct I/O.
 *
 * <p>Thread safety: immutable.
 */
public final class StrataFileSystemProvider extends DelegatingFileSystemProvider {

  /** Opens the segments at the first use: the provider exists before any configuration. */
  interface Segments {
    SegmentFiles get() throws IOException;
  }

  /** A class, not a method reference: nothing may be linked at run time while the JVM boots. */
  private static final class RuntimeSegments implements Segments {
    @Override
    public SegmentFiles get() throws IOException {
      return StrataRuntime.segmentFiles();
    }
  }

  private final Segments segments;
  private final SegmentRouter router;
  private final HotFileMover mover;

  /**
   * Called by the JDK, while the JVM boots.
   *
   * @param parent the provider to forward to: the JDK's own
   */
  public StrataFileSystemProvider(FileSystemProvider parent) {
    this(parent, new RuntimeSegments());
    JdkFileSystem.note(parent);
  }

  StrataFileSystemProvider(FileSystemProvider parent, Segments segments) {
    super(parent);
    this.segments = segments;
    this.router = new SegmentRouter(parent);
    this.mover = new HotFileMover(parent, router);
  }

  @Override
  public FileChannel newFileChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    Optional<FileChannel> segment = openSegment(path, options, attributes);
    return segment.isPresent() ? segment.get() : super.newFileChannel(path, options, attributes);
  }

  @Override
  public SeekableByteChannel newByteChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    Optional<FileChannel> segment = openSegment(path, options, attributes);
    if (segment.isPresent()) {
      return segment.get();
    }
    if (!SegmentOpenOptions.writes(options)) {
      Optional<byte[]> own = kafkasOwnText(path);
      if (own.isPresent()) {
        return new TextChannel(own.get());
      }
    }
    return super.newByteChannel(path, options, attributes);
  }

  @Override
  public InputStream newInputStream(Path path, OpenOption... options) throws IOException {
    List<OpenOption> given = Arrays.asList(options);
    if (!given.contains(StandardOpenOption.WRITE) && !given.contains(StandardOpenOption.APPEND)) {
      Optional<FileChannel> segment = openSegment(path, SegmentOpenOptions.reading(options));
      if (segment.isPresent()) {
        return Channels.newInputStream(segment.get());
      }
      Optional<byte[]> own = kafkasOwnText(path);
      if (own.isPresent()) {
        return new ByteArrayInputStream(own.get());
      }
    }
    return super.newInputStream(path, options);
  }

  @Override
  public OutputStream newOutputStream(Path path, OpenOption... options) throws IOException {
    if (!Arrays.asList(options).contains(StandardOpenOption.READ)) {
      Optional<FileChannel> segment = openSegment(path, SegmentOpenOptions.writing(options));
      if (segment.isPresent()) {
        return Channels.newOutputStream(segment.get());
      }
    }
    return super.newOutputStream(path, options);
  }

  @Override
  public AsynchronousFileChannel newAsynchronousFileChannel(
      Path path,
      Set<? extends OpenOption> options,
      @Nullable ExecutorService executor,
      FileAttribute<?>... attributes)
      throws IOException {
    Optional<Path> file = router.existing(unwrap(path), SegmentOpenOptions.followsLinks(options));
    if (file.isPresent() && isHot(file.get())) {
      throw new UnsupportedOperationException(
          path + " is a hot segment: it has no asynchronous channel, open a FileChannel instead");
    }
    return super.newAsynchronousFileChannel(path, options, executor, attributes);
  }

  /**
   * Returns what Kafka wrote into a marked {@code meta.properties}; empty for every other file. A
   * broker reads this file, marked or not, before it changes anything. So the tier is opened first:
   * a broker that must not start ends here.
   */
  private Optional<byte[]> kafkasOwnText(Path path) throws IOException {
    if (!Marker.maybeMarked(path)) {
      return Optional.empty();
    }
    SegmentFiles unused = segments.get(); // It may mark this very file.
    return Marker.read(unwrap(path));
  }

  /** Empty when the file is not hot, and also when the options are wrong: the JDK then says so. */
  private Optional<FileChannel> openSegment(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    boolean followLinks = SegmentOpenOptions.followsLinks(options);
    Optional<Path> file =
        SegmentOpenOptions.creates(options)
            ? router.existingOrNew(unwrap(path), followLinks)
            : router.existing(unwrap(path), followLinks);
    if (file.isEmpty() || !SegmentOpenOptions.valid(options)) {
      return Optional.empty();
    }
    if (SegmentOpenOptions.supported(options)) {
      return segments.get().open(file.get(), SegmentOpenOptions.effective(options), attributes);
    }
    if (isHot(file.get())) {
      throw new UnsupportedOperationException(
          path + " is a hot segment: it cannot be opened with all of " + options);
    }
    return Optional.empty();
  }

  @Override
  public void delete(Path path) throws IOException {
    if (!deleteSegment(path)) {
      super.delete(path);
    }
  }

  @Override
  public boolean deleteIfExists(Path path) throws IOException {
    return deleteSegment(path) || super.deleteIfExists(path);
  }

  private boolean deleteSegment(Path path) throws IOException {
    Optional<Path> file = router.itself(unwrap(path));
    return file.isPresent() && segments.get().delete(file.get());
  }

  @Override
  public void copy(Path source, Path target, CopyOption... options) throws IOException {
    Path to = unwrap(target);
    boolean followLinks = !Arrays.asList(options).contains(LinkOption.NOFOLLOW_LINKS);
    Optional<Path> from = router.existing(unwrap(source), followLinks);
    if (from.isPresent() && isHot(from.get())) {
      if (mover.copy(segments.get(), from.get(), to, CopyFlags.ofCopy(options))) {
        return;
      }
    } else if (isHotItself(to) && CopyFlags.ofCopy(options).replace()) {
      checkReadable(source, followLinks); // Before the target is gone.
      delete(target);
    }
    super.copy(source, target, options);
  }

  private void checkReadable(Path source, boolean followLinks) throws IOException {
    if (followLinks) {
      checkAccess(source, AccessMode.READ);
    } else {
      super.readAttributes(source, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    }
  }

  @Override
  public void move(Path source, Path target, CopyOption... options) throws IOException {
    Path from = unwrap(source);
    Path to = unwrap(target);
    if (!moveSegments(from, to, options) && !moveOntoMarked(from, to, options)) {
      super.move(source, target, options);
    }
    if (SegmentFiles.isCheckpoint(to)) {
      noteLogsLoaded();
    }
  }

  private void noteLogsLoaded() {
    try {
      segments.get().logsLoaded();
    } catch (IOException notOpened) {
      // A tier that could not be opened moves nothing. The file is in its place.
      return;
    }
  }

  /** Marks the file that Kafka moves to the place of a marked one. */
  private boolean moveOntoMarked(Path from, Path to, CopyOption... options) throws IOException {
    if (!Marker.maybeMarked(to)) {
      return false;
    }
    CopyFlags flags = CopyFlags.ofMove(options);
    BasicFileAttributes attributes = router.attributesItself(from);
    return (flags.atomic() || flags.replace())
        && attributes != null
        && attributes.isRegularFile()
        && Marker.replace(from, to);
  }

  private boolean moveSegments(Path from, Path to, CopyOption... options) throws IOException {
    BasicFileAttributes attributes = router.attributesItself(from);
    if (attributes == null || Arrays.asList(options).contains(StandardCopyOption.COPY_ATTRIBUTES)) {
      return false; // The JDK says what is wrong.
    }
    if (attributes.isRegularFile() && SegmentFiles.maybeSegment(from) && isHot(from)) {
      return mover.move(segments.get(), from, to, CopyFlags.ofMove(options));
    }
    boolean link = attributes.isSymbolicLink();
    if (isHotItself(to)) {
      CopyFlags flags = CopyFlags.ofMove(options);
      if (flags.atomic() ? link : flags.replace()) {
        segments.get().delete(to); // As the JDK, which unlinks what it replaces before it renames.
      }
    }
    if (link) {
      return false;
    }
    return (attributes.isDirectory()
            || SegmentFiles.maybeSegment(from)
            || SegmentFiles.maybeSegment(to))
        && segments.get().move(from, to, options);
  }

  /**
   * A second name would keep the file alive, and incomplete, after the first one has been deleted.
   */
  @Override
  public void createLink(Path link, Path existing) throws IOException {
    if (isHotItself(unwrap(existing))) {
      throw new FileSystemException(
          link.toString(),
          existing.toString(),
          "is a hot segment, whose bytes a hard link would not reach: copy it instead");
    }
    super.createLink(link, existing);
  }

  @Override
  public <A extends BasicFileAttributes> A readAttributes(
      Path path, Class<A> type, LinkOption... options) throws IOException {
    A file = super.readAttributes(path, type, options);
    if (!file.isRegularFile()) {
      return file;
    }
    Optional<HotAttributes> hot = hotAttributes(path, options);
    return hot.isPresent() ? hot.get().over(type, file) : file;
  }

  @Override
  public Map<String, Object> readAttributes(Path path, String attributes, LinkOption... options)
      throws IOException {
    Map<String, Object> file = super.readAttributes(path, attributes, options);
    if (!HotAttributes.concerns(file)) {
      return file;
    }
    Optional<HotAttributes> hot = hotAttributes(path, options);
    return hot.isPresent() ? hot.get().over(file) : file;
  }

  @Override
  public <V extends FileAttributeView> @Nullable V getFileAttributeView(
      Path path, Class<V> type, LinkOption... options) {
    V view = super.getFileAttributeView(path, type, options);
    return view == null ? null : HotAttributeViews.wrap(view, type, path, this, options);
  }

  @Override
  public void setAttribute(
      Path path, String attribute, @Nullable Object value, LinkOption... options)
      throws IOException {
    super.setAttribute(path, attribute, value, options);
    String name = attribute.substring(attribute.indexOf(':') + 1);
    if (value instanceof FileTime time && name.equals("lastModifiedTime")) {
      lastModifiedSet(path, time, options);
    }
  }

  void lastModifiedSet(Path path, FileTime time, LinkOption... options) throws IOException {
    Optional<Path> file = router.existing(unwrap(path), followsLinks(options));
    if (file.isPresent()) {
      segments.get().setLastModified(file.get(), time);
    }
  }

  private Optional<HotAttributes> hotAttributes(Path path, LinkOption... options)
      throws IOException {
    Optional<Path> file = router.existing(unwrap(path), followsLinks(options));
    if (file.isEmpty()) {
      return Optional.empty();
    }
    OptionalLong size = segments.get().size(file.get());
    Optional<FileTime> lastModified = segments.get().lastModified(file.get());
    return size.isPresent() && lastModified.isPresent()
        ? Optional.of(new HotAttributes(size.getAsLong(), lastModified.get()))
        : Optional.empty();
  }

  private boolean isHotItself(Path path) throws IOException {
    Optional<Path> file = router.itself(path);
    return file.isPresent() && isHot(file.get());
  }

  private boolean isHot(Path file) throws IOException {
    return segments.get().size(file).isPresent();
  }

  private static boolean followsLinks(LinkOption... options) {
    return !Arrays.asList(options).contains(LinkOption.NOFOLLOW_LINKS);
  }
}
