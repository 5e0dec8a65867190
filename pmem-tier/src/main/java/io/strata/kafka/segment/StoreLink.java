package io.strata.kafka.segment;

import static java.util.Objects.requireNonNull;

import io.strata.kafka.memory.Interrupts;
import io.strata.kafka.memory.Printable;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * The second name of a home's file: an object of the remote tier's store, made as a hard link. The
 * file's bytes are the store's as well, so whoever is about to change home calls {@link #unshare}
 * first.
 *
 * <p>The name is kept in an extended attribute of the file, {@code user.strata.link}: the absolute
 * path where the object is published. While it is being copied it lies in a staging directory that
 * is renamed as a whole later, so that path is kept, too ({@code user.strata.link.staged}). The
 * attributes are durable before the link is made, and count only as long as the file they name is
 * the same one as home.
 *
 * <p>A crash in the middle of {@link #unshare} leaves the object as it was, and perhaps a file
 * beside it, named as the object with the suffix {@value #UNSHARED_SUFFIX}: of no use, and to be
 * removed by who cleans up the store.
 *
 * <p>All paths are the JDK's own. Thread safety: immutable; at most one thread at a time may
 * unshare a file.
 *
 * @param file what the file system knows home's file by: device and inode
 * @param published where the object is found once the copy is complete
 * @param staged where the link was made; the same as {@code published} if it was made there
 */
public record StoreLink(Object file, Path published, Path staged) {

  /** The attribute with the published path, as the operating system's tools show it. */
  public static final String ATTRIBUTE = "user.strata.link";

  /** The attribute with the path where the link was made. */
  public static final String STAGED_ATTRIBUTE = "user.strata.link.staged";

  /** Ends the name of a copy that is to become the object's own file. */
  public static final String UNSHARED_SUFFIX = ".unshared";

  private static final String VIEW_NAME = "strata.link";
  private static final String STAGED_NAME = "strata.link.staged";

  /** More than the longest path. */
  private static final int READ_LIMIT = 16 << 10;

  /** How often an object is followed that is renamed while it is looked at. */
  private static final int ATTEMPTS = 10;

  /** Checks that nothing is null and that the paths are absolute. */
  public StoreLink {
    requireNonNull(file);
    if (!published.isAbsolute() || !staged.isAbsolute()) {
      throw new IllegalArgumentException(
          "found " + published + " and " + staged + ", expected absolute paths");
    }
  }

  /**
   * The link of a home's file; empty if the file has one name only, or a name that was made by
   * somebody else.
   *
   * @throws NoSuchFileException if there is no such file
   */
  public static Optional<StoreLink> of(Path home) throws IOException {
    return names(home) > 1 ? recorded(home) : Optional.empty();
  }

  /** As {@link #of}, whatever has become of the link, or of home. */
  private static Optional<StoreLink> recorded(Path file) throws IOException {
    Optional<String> published = UserAttributes.read(file, VIEW_NAME, READ_LIMIT);
    if (published.isEmpty()) {
      return Optional.empty();
    }
    String staged = UserAttributes.read(file, STAGED_NAME, READ_LIMIT).orElse(published.get());
    try {
      return Optional.of(
          new StoreLink(
              keyOf(file),
              file.getFileSystem().getPath(published.get()),
              file.getFileSystem().getPath(staged)));
    } catch (IllegalArgumentException e) {
      throw new FileSystemException(
          file.toString(),
          null,
          "the attribute "
              + ATTRIBUTE
              + " holds \""
              + Printable.of(published.get())
              + "\", expected an absolute path of the remote tier's store");
    }
  }

  /** Whether the file, by its own record, is an object of the store and no home. */
  public static boolean isObject(Path file) throws IOException {
    Optional<StoreLink> link = recorded(file);
    if (link.isEmpty()) {
      return false;
    }
    Path real = inRealDirectory(file);
    try {
      return real.equals(inRealDirectory(link.get().published))
          || real.equals(inRealDirectory(link.get().staged));
    } catch (FileSystemException e) {
      throw printable(e);
    }
  }

  /** The name below its directory's real path; the path itself if there is no such directory. */
  private static Path inRealDirectory(Path file) throws IOException {
    Path absolute = file.toAbsolutePath();
    Path parent = absolute.getParent();
    Path name = absolute.getFileName();
    if (parent == null || name == null) {
      return absolute;
    }
    try {
      return parent.toRealPath().resolve(name);
    } catch (NoSuchFileException e) {
      return absolute;
    }
  }

  /** How many names a file has. */
  public static int names(Path file) throws IOException {
    if (!file.getFileSystem().supportedFileAttributeViews().contains("unix")) {
      return 1;
    }
    return (Integer) Files.getAttribute(file, "unix:nlink", LinkOption.NOFOLLOW_LINKS);
  }

  private static Object keyOf(Path file) throws IOException {
    BasicFileAttributes attributes =
        Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    Object key = attributes.fileKey();
    return key == null ? file.toString() : key;
  }

  /**
   * Records a link that is about to be made, durably.
   *
   * @param home the file
   * @param published see above
   * @param staged see above
   * @return the link, to be made now
   * @throws FileSystemException if a path cannot be kept, since this JVM's encoding of file names
   *     lacks a letter of it, or for want of room
   */
  public static StoreLink record(Path home, Path published, Path staged) throws IOException {
    StoreLink link = new StoreLink(keyOf(home), published, staged);
    checkPrintable(published);
    checkPrintable(staged);
    UserAttributes.write(home, VIEW_NAME, published.toString());
    if (staged.equals(published)) {
      boolean unused = UserAttributes.remove(home, STAGED_NAME);
    } else {
      UserAttributes.write(home, STAGED_NAME, staged.toString());
    }
    force(home);
    return link;
  }

  /** What is not found again by its text would be changed along with home. */
  private static void checkPrintable(Path file) throws FileSystemException {
    try {
      if (file.getFileSystem().getPath(file.toString()).equals(file)) {
        return;
      }
    } catch (InvalidPathException e) {
      throw unprintable(file, Optional.of(e));
    }
    throw unprintable(file, Optional.empty());
  }

  private static FileSystemException unprintable(Path file, Optional<InvalidPathException> cause) {
    FileSystemException failure =
        new FileSystemException(
            file.toString(), null, "this JVM's encoding of file names lacks a letter of it");
    cause.ifPresent(failure::initCause);
    return failure;
  }

  /** Removes the record of a link that is there no more, or was never made. */
  public static void forget(Path home) throws IOException {
    boolean unused = UserAttributes.remove(home, VIEW_NAME);
    boolean unusedToo = UserAttributes.remove(home, STAGED_NAME);
  }

  /**
   * Breaks the link of a home that is about to be changed and that no segment object stands for, if
   * it has one, and if it is there at all.
   *
   * @return whether it had one
   * @throws IOException as {@link #unshare()}
   */
  public static boolean unshareIfThere(Path home) throws IOException {
    try {
      Optional<StoreLink> link = of(home);
      return link.isPresent() && link.get().unshare();
    } catch (NoSuchFileException | NotDirectoryException absent) {
      return false;
    }
  }

  /**
   * Gives the store's object a file of its own, durably, if it is still the same file as home: home
   * may be changed then.
   *
   * @return whether there was something to do: false if the object has been deleted, or is another
   *     file by now
   * @throws IOException if the object's bytes cannot be copied, since the disk is full perhaps;
   *     nothing has been changed, and home must not be changed either
   */
  public boolean unshare() throws IOException {
    try {
      return Interrupts.defer(this::unshareOrFail);
    } catch (NoSuchFileException | NotDirectoryException e) {
      throw e;
    } catch (FileSystemException e) {
      throw printable(e);
    }
  }

  /** With names that are fit for a log: who may write the attribute chooses them. */
  private static FileSystemException printable(FileSystemException e) {
    String name = String.valueOf(e.getFile());
    if (name.equals(Printable.of(name))) {
      return e;
    }
    FileSystemException printable =
        new FileSystemException(
            Printable.of(name), null, e.getClass().getSimpleName() + ": " + e.getReason());
    printable.setStackTrace(e.getStackTrace());
    return printable;
  }

  private boolean unshareOrFail() throws IOException {
    // In this order: an object goes from the one place to the other and never back.
    List<Path> names = List.of(staged, published);
    boolean copied = false;
    Optional<NoSuchFileException> renamed = Optional.empty();
    for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
      try {
        for (Path name : names) {
          if (isSameFile(name)) {
            copyBeside(name);
            copied = true;
          }
        }
        if (copied) {
          forceDirectories(names);
        }
        return copied;
      } catch (NoSuchFileException e) {
        // Published, or deleted, just now: look again.
        renamed = Optional.of(e);
      }
    }
    FileSystemException failure =
        new FileSystemException(
            published.toString(),
            null,
            "it is renamed each time it is looked at: it shares its bytes with a segment that is"
                + " about to be changed, and can be given no copy of its own; nothing has been"
                + " changed");
    renamed.ifPresent(failure::initCause);
    throw failure;
  }

  private boolean isSameFile(Path name) throws IOException {
    try {
      return Objects.equals(keyOf(name), file);
    } catch (NoSuchFileException gone) {
      return false;
    }
  }

  private void copyBeside(Path object) throws IOException {
    Path own = object.resolveSibling(object.getFileName() + UNSHARED_SUFFIX);
    try {
      copy(object, own);
      Path unused = Files.move(own, object, StandardCopyOption.ATOMIC_MOVE);
    } catch (NoSuchFileException | ClosedByInterruptException e) {
      removeHalf(own, e);
      throw e;
    } catch (IOException e) {
      removeHalf(own, e);
      FileSystemException failure =
          new FileSystemException(
              object.toString(),
              own.toString(),
              "this object of the remote tier's store shares its bytes with a segment that is about"
                  + " to be changed, and could not be given a copy of its own: "
                  + e.getMessage()
                  + "; nothing has been changed. Make room in that file system");
      failure.initCause(e);
      throw failure;
    }
  }

  private static void removeHalf(Path own, IOException failure) {
    try {
      boolean unused = Files.deleteIfExists(own);
    } catch (IOException e) {
      failure.addSuppressed(e);
    }
  }

  private static void forceDirectories(List<Path> names) throws IOException {
    for (Path name : names) {
      Path directory = Objects.requireNonNull(name.getParent());
      if (Files.exists(name, LinkOption.NOFOLLOW_LINKS)) {
        force(directory);
      }
    }
  }

  private static void copy(Path object, Path own) throws IOException {
    // What an earlier attempt has left is not to keep its permissions.
    boolean unused = Files.deleteIfExists(own);
    try (FileChannel from = FileChannel.open(object, StandardOpenOption.READ);
        FileChannel to =
            FileChannel.open(
                own,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                permissions(object))) {
      long size = from.size();
      long at = 0;
      while (at < size) {
        long copied = from.transferTo(at, size - at, to);
        if (copied <= 0) {
          throw new IOException(
              object + ": found " + at + " bytes to copy, expected " + size + ": it was cut short");
        }
        at += copied;
      }
      to.force(true);
    }
  }

  private static FileAttribute<?>[] permissions(Path object) throws IOException {
    PosixFileAttributeView view = Files.getFileAttributeView(object, PosixFileAttributeView.class);
    return view == null
        ? new FileAttribute<?>[0]
        : new FileAttribute<?>[] {
          PosixFilePermissions.asFileAttribute(view.readAttributes().permissions())
        };
  }

  private static void force(Path file) throws IOException {
    Path unused =
        Interrupts.defer(
            () -> {
              try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
                channel.force(true);
              }
              return file;
            });
  }
}
