package io.strata.kafka.migration.remote.faults;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.WatchService;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.spi.FileSystemProvider;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiPredicate;

/**
 * The real files below a directory, and faults of a test's choice: what asks for a path that a
 * fault matches hangs as in the kernel, where no interrupt reaches it, or fails.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
public final class FaultyFileSystem extends FileSystem {

  /** What asks for a path. */
  public enum Operation {
    /** A look at it, or a read of it. */
    READ,
    /** A change of it. */
    WRITE,
    /** A list of what is in it. */
    LIST
  }

  private record Fault(
      BiPredicate<Operation, Path> hits, Optional<String> reason, CountDownLatch over) {}

  private final FaultyProvider provider = new FaultyProvider(this);
  private final Set<Fault> faults = ConcurrentHashMap.newKeySet();
  private final AtomicInteger hanging = new AtomicInteger();
  private final boolean inFiles;

  /** Asks where a path is looked at, opened or changed. */
  public FaultyFileSystem() {
    this(false);
  }

  /** Asks at each read, write and force of an open file too, if {@code inFiles} says so. */
  public FaultyFileSystem(boolean inFiles) {
    this.inFiles = inFiles;
  }

  boolean asksInFiles() {
    return inFiles;
  }

  /** A path of this file system. */
  public Path wrap(Path real) {
    return new FaultyPath(this, real);
  }

  /**
   * Makes what matches hang until the fault is over.
   *
   * @param hits is asked with the real path
   * @return ends it
   */
  public Runnable hang(BiPredicate<Operation, Path> hits) {
    return add(new Fault(hits, Optional.empty(), new CountDownLatch(1)));
  }

  /**
   * Makes what matches fail until the fault is over.
   *
   * @param reason as the kernel says it: {@code No space left on device}
   * @return ends it
   */
  public Runnable fail(String reason, BiPredicate<Operation, Path> hits) {
    return add(new Fault(hits, Optional.of(reason), new CountDownLatch(1)));
  }

  private Runnable add(Fault fault) {
    faults.add(fault);
    return () -> {
      faults.remove(fault);
      fault.over().countDown();
    };
  }

  /** How many threads hang now. */
  public int hanging() {
    return hanging.get();
  }

  /** Before the real file system is asked. */
  void ask(Operation operation, Path real) throws IOException {
    for (Fault fault : faults) {
      if (fault.hits().test(operation, real)) {
        if (fault.reason().isPresent()) {
          throw new FileSystemException(real.toString(), null, fault.reason().get());
        }
        await(fault.over());
      }
    }
  }

  private void await(CountDownLatch over) {
    int unused = hanging.incrementAndGet();
    boolean interrupted = false;
    while (over.getCount() > 0) {
      try {
        over.await();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    int unusedToo = hanging.decrementAndGet();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public FileSystemProvider provider() {
    return provider;
  }

  @Override
  public void close() {}

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
    return List.of(wrap(Path.of("/")));
  }

  @Override
  public Iterable<FileStore> getFileStores() {
    return List.of();
  }

  @Override
  public Set<String> supportedFileAttributeViews() {
    return Set.of("basic");
  }

  @Override
  public Path getPath(String first, String... more) {
    return wrap(Path.of(first, more));
  }

  @Override
  public PathMatcher getPathMatcher(String syntaxAndPattern) {
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
