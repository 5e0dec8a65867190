package io.strata.kafka.nio;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.module.ModuleFinder;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.Paths;
import java.nio.file.ProviderMismatchException;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.spi.FileSystemProvider;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Scanner;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.logging.FileHandler;
import java.util.logging.Logger;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/**
 * Checks a JVM whose default provider is ours, from within. Started by {@link DefaultProviderTest};
 * writes what is wrong, or {@code OK}, to the file that its first argument names, and nothing to
 * standard output and error. The second argument is an empty directory.
 */
final class DefaultProviderMain {

  /** Where we know that the JDK no longer takes the default provider for its own (17 does). */
  private static final int PROBES_CONTENT_TYPES = 25;

  private final Path directory;
  private final List<String> failures = new ArrayList<>();

  private DefaultProviderMain(Path directory) {
    this.directory = directory;
  }

  private interface Check {
    void run() throws Exception;
  }

  /** Agents run before main, in a JVM that has hardly booted. */
  public static void premain(String report) throws Exception {
    Files.writeString(Path.of(report), FileSystems.getDefault().provider().getClass().getName());
  }

  public static void main(String[] args) throws Exception {
    DefaultProviderMain main = new DefaultProviderMain(Path.of(args[1]));
    main.run();
    Files.writeString(
        Path.of(args[0]), main.failures.isEmpty() ? "OK" : String.join("\n", main.failures));
  }

  private void run() {
    check("the provider is ours", this::provider);
    check("paths", this::paths);
    check("files", this::files);
    check("attributes", this::attributes);
    check("links", this::links);
    check("channels", this::channels);
    check("a directory's channel", this::directoryChannel);
    check("segments that are not hot", this::segment);
    check("walks", this::walks);
    check("path matchers", this::matchers);
    check("watch service", this::watches);
    check("temporary files", this::temporaryFiles);
    check("zip file systems", this::zip);
    check("classes from a jar", this::classes);
    check("the compiler", this::compiler);
    check("logging", this::logging);
    check("java.io", this::javaIo);
    check("what the JDK refuses", this::refusedByTheJdk);
  }

  private void check(String name, Check check) {
    try {
      check.run();
    } catch (Throwable e) {
      StringWriter trace = new StringWriter();
      e.printStackTrace(new PrintWriter(trace));
      failures.add(name + ": " + trace);
    }
  }

  private static void same(@Nullable Object found, @Nullable Object expected) {
    if (!Objects.equals(found, expected)) {
      throw new AssertionError("found " + found + ", expected " + expected);
    }
  }

  private static void fails(Class<? extends Exception> type, Check check) throws Exception {
    try {
      check.run();
    } catch (Exception e) {
      if (e.getClass() == type) {
        return;
      }
      throw e;
    }
    throw new AssertionError("did not throw " + type.getName());
  }

  private static void check(Path path) {
    throw new AssertionError("there is a path " + path);
  }

  private Path fresh(String name) throws Exception {
    return Files.createDirectory(directory.resolve(name));
  }

  private void provider() throws Exception {
    String ours = "io.strata.kafka.nio.StrataFileSystemProvider";
    same(FileSystems.getDefault().provider().getClass().getName(), ours);
    same(FileSystemProvider.installedProviders().get(0).getClass().getName(), ours);
    same(FileSystems.getFileSystem(URI.create("file:///")), FileSystems.getDefault());
    same(Path.of("a").getFileSystem(), FileSystems.getDefault());
    same(new File("a").toPath().getFileSystem(), FileSystems.getDefault());
    same(Paths.get(URI.create("file:///a")).getFileSystem(), FileSystems.getDefault());
    fails(UnsupportedOperationException.class, FileSystems.getDefault()::close);
    same(FileSystems.getDefault().isOpen(), true);
  }

  private void paths() throws Exception {
    Path path = Path.of("/a/./b/../c.txt");
    same(path.normalize(), Path.of("/a/c.txt"));
    same(path.toFile().toPath(), path);
    same(Path.of(path.toUri()), path);
    same(Path.of(URI.create("file:/a/c.txt")), Path.of("/a/c.txt"));
    same(path.normalize().toUri(), URI.create("file:///a/c.txt"));
    same(Path.of("").toAbsolutePath().toString(), System.getProperty("user.dir"));
    same(path.getFileName(), Path.of("c.txt"));
    same(path.getParent(), Path.of("/a/./b/.."));
    same(path.getRoot(), Path.of("/"));
    same(Path.of("/").getFileName(), null);
    same(Path.of("a").getParent(), null);
    same(Path.of("/a/b").relativize(Path.of("/a/c/d")), Path.of("../c/d"));
    same(Path.of("/a").resolve("b").hashCode(), Path.of("/a/b").hashCode());
    same(Path.of("/a").startsWith(Path.of("/")), true);
    Set<Path> names = new HashSet<>();
    Path.of("/a/b/c").forEach(names::add);
    same(names, Set.of(Path.of("a"), Path.of("b"), Path.of("c")));
    fails(InvalidPathException.class, () -> check(Path.of("a\0b")));
  }

  private void files() throws Exception {
    Path here = fresh("files");
    Path file = Files.writeString(here.resolve("a"), "one\ntwo\n");
    same(Files.readString(file), "one\ntwo\n");
    same(Files.readAllLines(file), List.of("one", "two"));
    try (Stream<String> lines = Files.lines(file)) {
      same(lines.parallel().count(), 2L);
    }
    try (BufferedReader reader = Files.newBufferedReader(file)) {
      same(reader.readLine(), "one");
    }
    try (Scanner scanner = new Scanner(file, StandardCharsets.UTF_8)) {
      same(scanner.nextLine(), "one");
    }
    same(Files.size(file), 8L);
    Path copy = Files.copy(file, here.resolve("b"), StandardCopyOption.COPY_ATTRIBUTES);
    same(Files.mismatch(file, copy), -1L);
    same(Files.getLastModifiedTime(copy).toMillis(), Files.getLastModifiedTime(file).toMillis());
    fails(FileAlreadyExistsException.class, () -> Files.copy(file, copy));
    Files.move(copy, here.resolve("c"), StandardCopyOption.ATOMIC_MOVE);
    fails(NoSuchFileException.class, () -> Files.size(copy));
    same(Files.exists(copy), false);
    same(Files.notExists(copy), true);
    same(Files.deleteIfExists(copy), false);
    try (InputStream in = Files.newInputStream(file)) {
      same(Files.copy(in, copy), 8L);
    }
    try (OutputStream out = Files.newOutputStream(copy, StandardOpenOption.APPEND)) {
      same(Files.copy(file, out), 8L);
    }
    same(Files.size(copy), 16L);
    Files.createDirectories(here.resolve("x/y/z"));
    fails(DirectoryNotEmptyException.class, () -> Files.delete(here.resolve("x")));
    if (Runtime.version().feature() >= PROBES_CONTENT_TYPES) {
      same(Files.probeContentType(Files.writeString(here.resolve("p.txt"), "x")), "text/plain");
    }
    same(Files.getFileStore(file).supportsFileAttributeView("basic"), true);
  }

  /** As the page on installation says: where this fails, it can say less. */
  private void refusedByTheJdk() throws Exception {
    fails(IllegalArgumentException.class, () -> UnixDomainSocketAddress.of("/tmp/a.socket"));
  }

  private void attributes() throws Exception {
    Path file = Files.writeString(fresh("attributes").resolve("a"), "12345");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
    Map<String, Object> all = Files.readAttributes(file, "unix:*");
    same(all.get("size"), 5L);
    same(Files.getAttribute(file, "posix:permissions"), Files.getPosixFilePermissions(file));
    PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
    same(view.name(), "posix");
    same(view.readAttributes().size(), 5L);
    same(view.getOwner(), Files.getOwner(file));
    Files.setOwner(
        file,
        file.getFileSystem()
            .getUserPrincipalLookupService()
            .lookupPrincipalByName(Files.getOwner(file).getName()));
    Files.setAttribute(file, "user:colour", ByteBuffer.wrap(new byte[] {1}));
    same(((byte[]) Files.getAttribute(file, "user:colour")).length, 1);
  }

  private void links() throws Exception {
    Path here = fresh("links");
    Path file = Files.writeString(here.resolve("a"), "12345");
    Path link = Files.createSymbolicLink(here.resolve("link"), Path.of("a"));
    same(Files.readSymbolicLink(link), Path.of("a"));
    same(Files.isSameFile(link, file), true);
    same(link.toRealPath(), file.toRealPath());
    same(Files.size(Files.createLink(here.resolve("hard"), file)), 5L);
  }

  private void channels() throws Exception {
    Path file = fresh("channels").resolve("a");
    try (FileChannel channel =
        FileChannel.open(
            file,
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(new byte[100]));
      channel.force(true);
      same(channel.map(FileChannel.MapMode.READ_ONLY, 0, 100).remaining(), 100);
      try (FileLock lock = channel.lock()) {
        same(lock.isValid(), true);
      }
    }
    try (AsynchronousFileChannel channel = AsynchronousFileChannel.open(file)) {
      same(channel.read(ByteBuffer.allocate(200), 0).get(), 100);
    }
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.DELETE_ON_CLOSE)) {
      same(channel.size(), 100L);
    }
    same(Files.exists(file), false);
  }

  private void directoryChannel() throws Exception {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  private void segment() throws Exception {
    Path here = fresh("t-0");
    Path file = here.resolve("00000000000000000000.log");
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(new byte[1000]));
    }
    same(file.toFile().length(), 1000L);
    same(Files.size(file), 1000L);
    Path renamed = Files.move(here, directory.resolve("t-0.deleted"));
    Path deleted = renamed.resolve("00000000000000000000.log.deleted");
    Files.move(renamed.resolve(file.getFileName()), deleted, StandardCopyOption.ATOMIC_MOVE);
    same(Files.readAllBytes(deleted).length, 1000);
    Files.delete(deleted);
    same(renamed.toFile().list().length, 0);
  }

  private void walks() throws Exception {
    Path here = fresh("walks");
    Files.createDirectories(here.resolve("a/b"));
    Files.writeString(here.resolve("a/b/c"), "1");
    try (Stream<Path> walk = Files.walk(here)) {
      same(walk.allMatch(p -> p.getFileSystem() == FileSystems.getDefault()), true);
    }
    try (Stream<Path> found = Files.find(here, 9, (p, a) -> a.isRegularFile())) {
      same(found.toList(), List.of(here.resolve("a/b/c")));
    }
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(here, "?")) {
      same(entries.iterator().next(), here.resolve("a"));
    }
    Files.walkFileTree(
        here,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException e)
              throws IOException {
            Files.delete(visited);
            return FileVisitResult.CONTINUE;
          }
        });
    same(Files.exists(here), false);
  }

  private void matchers() {
    PathMatcher glob = FileSystems.getDefault().getPathMatcher("glob:**/*.{log,index}");
    same(glob.matches(Path.of("a/b.log")), true);
    same(glob.matches(Path.of("a/b.txt")), false);
    same(FileSystems.getDefault().getPathMatcher("regex:a.c").matches(Path.of("abc")), true);
  }

  private void watches() throws Exception {
    Path here = fresh("watches");
    try (WatchService service = FileSystems.getDefault().newWatchService()) {
      WatchKey key = here.register(service, StandardWatchEventKinds.ENTRY_CREATE);
      Files.writeString(here.resolve("new"), "1");
      WatchKey signalled = Objects.requireNonNull(service.poll(10, TimeUnit.SECONDS), "no event");
      same(signalled, key);
      same(signalled.watchable(), here);
      WatchEvent<?> event = signalled.pollEvents().get(0);
      same(event.context(), Path.of("new"));
      same(event.kind(), StandardWatchEventKinds.ENTRY_CREATE);
      same(signalled.reset(), true);
      signalled.cancel();
      same(key.isValid(), false);
    }
  }

  private void temporaryFiles() throws Exception {
    Path file = Files.createTempFile("strata", ".log");
    same(file.getFileSystem(), FileSystems.getDefault());
    Files.delete(file);
    Files.delete(Files.createTempDirectory(directory, "t"));
    Files.delete(File.createTempFile("strata", "x").toPath());
  }

  private void zip() throws Exception {
    Path here = fresh("zip");
    Path zip = here.resolve("a.zip");
    try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(zip))) {
      out.putNextEntry(new ZipEntry("d/one.txt"));
      out.write("one".getBytes(StandardCharsets.UTF_8));
    }
    try (FileSystem opened = FileSystems.newFileSystem(zip)) {
      Path one = opened.getPath("d/one.txt");
      same(Files.readString(one), "one");
      Files.copy(one, here.resolve("one.txt"));
      Files.writeString(here.resolve("two.txt"), "two");
      Files.move(here.resolve("two.txt"), opened.getPath("two.txt"));
      same(here.resolve("one.txt").equals(one), false);
      fails(ProviderMismatchException.class, () -> check(here.resolve(one)));
    }
    same(Files.exists(here.resolve("two.txt")), false);
    try (FileSystem opened =
        FileSystems.newFileSystem(URI.create("jar:" + zip.toUri()), Map.of())) {
      same(Files.readString(opened.getPath("/two.txt")), "two");
    }
    same(Files.readString(here.resolve("one.txt")), "one");
    same(Files.exists(Path.of(URI.create("jrt:/java.base/java/lang/Object.class"))), true);
  }

  private void classes() throws Exception {
    URL location = DefaultProviderMain.class.getProtectionDomain().getCodeSource().getLocation();
    Path jar = Files.copy(Path.of(location.toURI()), directory.resolve("copy.jar"));
    try (URLClassLoader loader =
        new URLClassLoader(new URL[] {jar.toUri().toURL()}, ClassLoader.getPlatformClassLoader())) {
      Class<?> loaded = Class.forName(DefaultProviderMain.class.getName(), false, loader);
      same(loaded == DefaultProviderMain.class, false);
    }
    same(ModuleFinder.of(jar).findAll().size(), 1);
  }

  private void compiler() throws Exception {
    Path here = fresh("compiler");
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    if (compiler == null) {
      return; // A run-time image without the compiler's module.
    }
    Path source = Files.writeString(here.resolve("A.java"), "class A { String a = \"1\" + this; }");
    try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
      boolean compiled =
          compiler
              .getTask(
                  null,
                  manager,
                  null,
                  List.of("-d", here.toString(), "-proc:none"),
                  null,
                  manager.getJavaFileObjects(source))
              .call();
      same(compiled, true);
    }
    same(Files.size(here.resolve("A.class")) > 0, true);
  }

  private void logging() throws Exception {
    Path file = fresh("logging").resolve("a.log");
    Logger logger = Logger.getLogger("check");
    logger.setUseParentHandlers(false);
    FileHandler handler = new FileHandler(file.toString());
    logger.addHandler(handler);
    logger.info("a line");
    handler.close();
    same(Files.readString(file).contains("a line"), true);
  }

  private void javaIo() throws Exception {
    Path here = fresh("io");
    File file = here.resolve("00000000000000000000.log").toFile();
    same(file.createNewFile(), true);
    same(file.exists() && file.isFile() && file.canRead(), true);
    same(file.setLastModified(1_000_000L), true);
    same(Files.getLastModifiedTime(file.toPath()).toMillis(), 1_000_000L);
    if (!"root".equals(System.getProperty("user.name"))) {
      same(file.setReadable(false), true);
      fails(AccessDeniedException.class, () -> Files.readAllBytes(file.toPath()));
    }
    same(file.delete(), true);
  }
}
