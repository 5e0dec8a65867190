package io.strata.kafka.nio;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.nio.file.Watchable;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The delegate's watch service, whose keys and events carry our paths. */
final class DelegatingWatchService implements WatchService {

  private final DelegatingFileSystem fileSystem;
  private final WatchService delegate;

  DelegatingWatchService(DelegatingFileSystem fileSystem, WatchService delegate) {
    this.fileSystem = fileSystem;
    this.delegate = delegate;
  }

  /** Registers the delegate's {@code directory}. */
  WatchKey register(Path directory, WatchEvent.Kind<?>[] events, WatchEvent.Modifier... modifiers)
      throws IOException {
    return new Key(fileSystem, directory.register(delegate, events, modifiers));
  }

  @Override
  public void close() throws IOException {
    delegate.close();
  }

  @Override
  public @Nullable WatchKey poll() {
    return wrap(delegate.poll());
  }

  @Override
  public @Nullable WatchKey poll(long timeout, TimeUnit unit) throws InterruptedException {
    return wrap(delegate.poll(timeout, unit));
  }

  @Override
  public WatchKey take() throws InterruptedException {
    return new Key(fileSystem, delegate.take());
  }

  private @Nullable WatchKey wrap(@Nullable WatchKey key) {
    return key == null ? null : new Key(fileSystem, key);
  }

  /** Equal to every other key of the same registration: the delegate has one, we one a call. */
  private record Key(DelegatingFileSystem fileSystem, WatchKey delegate) implements WatchKey {

    @Override
    public boolean isValid() {
      return delegate.isValid();
    }

    @Override
    public List<WatchEvent<?>> pollEvents() {
      List<WatchEvent<?>> events = new ArrayList<>();
      for (WatchEvent<?> event : delegate.pollEvents()) {
        events.add(wrap(event));
      }
      return events;
    }

    private WatchEvent<?> wrap(WatchEvent<?> event) {
      return event.context() instanceof Path path
          ? new PathEvent(event, fileSystem.wrap(path))
          : event;
    }

    @Override
    public boolean reset() {
      return delegate.reset();
    }

    @Override
    public void cancel() {
      delegate.cancel();
    }

    @Override
    public Watchable watchable() {
      Watchable watchable = delegate.watchable();
      return watchable instanceof Path path ? fileSystem.wrap(path) : watchable;
    }
  }

  private record PathEvent(WatchEvent<?> delegate, Path context) implements WatchEvent<Path> {

    /** A context that is a path has a kind of paths. */
    @Override
    @SuppressWarnings("unchecked")
    public Kind<Path> kind() {
      return (Kind<Path>) delegate.kind();
    }

    @Override
    public int count() {
      return delegate.count();
    }
  }
}
