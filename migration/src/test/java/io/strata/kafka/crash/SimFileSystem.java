package io.strata.kafka.crash;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.WatchService;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.spi.FileSystemProvider;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A file system of log directories in memory that knows what {@code fsync} has made durable.
 * Forcing a file makes its bytes, size and attributes durable, and not its name; forcing a
 * directory the names in it, and not its own. (Real file systems promise more; nothing may rely on
 * that.)
 *
 * <p>Thread safety: several threads may read at once; a change is made while no other uses it.
 */
public final class SimFileSystem extends FileSystem {

  private final SimProvider provider = new SimProvider(this);
  private final SimInode root;
  private final SimJournal journal;
  private long nextId;

  /** For a trace. */
  private String touched = "";

  private Points points = Points.NONE;
  private Calls calls = Calls.NONE;

  /** Who has channels and listings open, by their paths: readers add to it, too. */
  private final List<String> open = Collections.synchronizedList(new ArrayList<>());

  /** An empty one. */
  public SimFileSystem() {
    this(new SimInode(1, true), new SimJournal(), 2);
  }

  private SimFileSystem(SimInode root, SimJournal journal, long nextId) {
    this.root = root;
    this.journal = journal;
    this.nextId = nextId;
  }

  /** Who hears of changes. */
  public void points(Points listener) {
    points = listener;
  }

  /** Who hears of calls, and has some fail. */
  public void calls(Calls listener) {
    calls = listener;
  }

  int call(Call call, Path on, int bytes) throws IOException {
    return calls.before(call, on.toString(), bytes);
  }

  void call(Call call, Path on) throws IOException {
    int unused = call(call, on, 0);
  }

  /** The paths of channels and listings that are open. */
  public List<String> open() {
    return open;
  }

  /** What was changed last, for a trace. */
  public String touched() {
    return touched;
  }

  /** What a power cut now leaves: all of it is durable. */
  public SimFileSystem powerCut(Loss loss) {
    Map<SimInode, SimInode> copies = copies(inode -> inode.powerCut(loss));
    copies.forEach(
        (inode, copy) ->
            inode.durableEntries.forEach((name, to) -> copy.entries.put(name, get(copies, to))));
    journal.powerCut(loss, inode -> get(copies, inode));
    copies.values().forEach(copy -> copy.durableEntries.putAll(copy.entries));
    return new SimFileSystem(get(copies, root), new SimJournal(), nextId);
  }

  /** What is left when the process ends: everything, and of some it is not certain. */
  public SimFileSystem kill() {
    Map<SimInode, SimInode> copies = copies(SimInode::copy);
    copies.forEach(
        (inode, copy) -> {
          inode.entries.forEach((name, to) -> copy.entries.put(name, get(copies, to)));
          inode.durableEntries.forEach(
              (name, to) -> copy.durableEntries.put(name, get(copies, to)));
        });
    return new SimFileSystem(get(copies, root), journal.copy(inode -> get(copies, inode)), nextId);
  }

  private static SimInode get(Map<SimInode, SimInode> copies, SimInode inode) {
    SimInode copy = copies.get(inode);
    if (copy == null) {
      throw new IllegalStateException("inode " + inode.id + " has not been reached");
    }
    return copy;
  }

  private Map<SimInode, SimInode> copies(UnaryOperator<SimInode> copier) {
    Map<SimInode, SimInode> copies = new LinkedHashMap<>();
    Deque<SimInode> open = new ArrayDeque<>(journal.inodes());
    open.add(root);
    while (!open.isEmpty()) {
      SimInode inode = open.remove();
      if (copies.putIfAbsent(inode, inode) == null) {
        open.addAll(inode.entries.values());
        open.addAll(inode.durableEntries.values());
      }
    }
    copies.replaceAll((inode, same) -> copier.apply(inode));
    return copies;
  }

  SimInode inode(Path path) throws IOException {
    SimInode inode = root;
    for (String name : ((SimPath) path.toAbsolutePath()).names()) {
      if (!inode.directory) {
        throw new NotDirectoryException(path.toString());
      }
      SimInode next = inode.entries.get(name);
      if (next == null) {
        throw new NoSuchFileException(path.toString());
      }
      inode = next;
    }
    return inode;
  }

  private SimInode parent(Path path) throws IOException {
    Path parent = path.toAbsolutePath().getParent();
    if (parent == null) {
      throw new FileAlreadyExistsException(path.toString());
    }
    SimInode directory = inode(parent);
    if (!directory.directory) {
      throw new NotDirectoryException(parent.toString());
    }
    return directory;
  }

  private static String name(Path path) {
    return String.valueOf(path.getFileName());
  }

  @Nullable SimInode find(Path path) throws IOException {
    return path.toAbsolutePath().getParent() == null ? root : parent(path).entries.get(name(path));
  }

  SimInode create(Path path, boolean directory) throws IOException {
    SimInode parent = parent(path);
    if (parent.entries.containsKey(name(path))) {
      throw new FileAlreadyExistsException(path.toString());
    }
    call(Call.CREATE, path);
    touched = path + " inode " + nextId;
    boolean unused = points.before(Point.CREATE);
    SimInode inode = new SimInode(nextId++, directory);
    journal.change(new SimJournal.Entry(parent, name(path), inode));
    return inode;
  }

  /** Gives a file another name. */
  void link(Path name, Path existing) throws IOException {
    SimInode inode = inode(existing);
    if (find(name) != null) {
      throw new FileAlreadyExistsException(name.toString());
    }
    call(Call.CREATE, name);
    touched = name + " inode " + inode.id;
    boolean unused = points.before(Point.CREATE);
    journal.change(new SimJournal.Entry(parent(name), name(name), inode));
  }

  void delete(Path path) throws IOException {
    SimInode inode = inode(path);
    if (!inode.entries.isEmpty()) {
      throw new DirectoryNotEmptyException(path.toString());
    }
    call(Call.UNLINK, path);
    touched = path + " inode " + inode.id;
    boolean unused = points.before(Point.UNLINK);
    journal.change(new SimJournal.Entry(parent(path), name(path), null));
  }

  void rename(Path source, Path target, boolean replace) throws IOException {
    SimInode inode = inode(source);
    SimInode replaced = find(target);
    if (replaced == inode) {
      return;
    }
    if (replaced != null && (!replace || replaced.directory)) {
      throw new FileAlreadyExistsException(target.toString());
    }
    call(Call.RENAME, source);
    touched = source + " to " + target + " inode " + inode.id;
    boolean unused = points.before(Point.RENAME);
    journal.change(
        new SimJournal.Entry(parent(source), name(source), null),
        new SimJournal.Entry(parent(target), name(target), inode));
  }

  void write(SimInode inode, long position, byte[] bytes) {
    touched = "inode " + inode.id + " at " + position + "+" + bytes.length;
    boolean unused = points.before(Point.WRITE);
    inode.write(position, bytes);
  }

  void truncate(SimInode inode, long size) {
    if (size < inode.size()) {
      touched = "inode " + inode.id + " to " + size;
      boolean unused = points.before(Point.TRUNCATE);
      inode.truncate(size);
    }
  }

  void force(SimInode inode, boolean metaData) {
    touched = "inode " + inode.id;
    if (points.before(inode.directory ? Point.DIRECTORY_FORCE : Point.FILE_FORCE)) {
      inode.force(metaData);
      if (inode.directory) {
        journal.force(inode);
      }
    }
  }

  /** Sets an attribute, or removes it. */
  void attribute(SimInode inode, String name, Optional<byte[]> value) {
    touched =
        "inode "
            + inode.id
            + " "
            + name
            + " "
            + value.map(bytes -> new String(bytes, StandardCharsets.US_ASCII));
    boolean unused = points.before(Point.ATTRIBUTE);
    inode.attribute(name, value);
  }

  @Override
  public FileSystemProvider provider() {
    return provider;
  }

  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }

  @Override
  public boolean isOpen() {
    return true;
  }

  @Override
  public boolean isReadOnly() {
    return false;
  }

  @Override
  public String getSeparator() {
    return "/";
  }

  @Override
  public Iterable<Path> getRootDirectories() {
    return List.of(getPath("/"));
  }

  @Override
  public Iterable<FileStore> getFileStores() {
    return List.of();
  }

  @Override
  public Set<String> supportedFileAttributeViews() {
    return Set.of("basic", "user");
  }

  @Override
  public Path getPath(String first, String... more) {
    return SimPath.parse(this, more.length == 0 ? first : first + "/" + String.join("/", more));
  }

  @Override
  public PathMatcher getPathMatcher(String pattern) {
    throw new UnsupportedOperationException();
  }

  @Override
  public UserPrincipalLookupService getUserPrincipalLookupService() {
    throw new UnsupportedOperationException();
  }

  @Override
  public WatchService newWatchService() {
    throw new UnsupportedOperationException();
  }
}
