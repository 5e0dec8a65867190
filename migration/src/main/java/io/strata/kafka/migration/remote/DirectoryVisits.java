package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.remote.RemoteStats.Cause;
import io.strata.kafka.migration.remote.store.DirectoryAccess;
import io.strata.kafka.migration.remote.store.StoreDirectory;
import io.strata.kafka.migration.remote.store.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.StoreUpkeep;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Visits one directory of the store, again and again: lists it, notes that this broker uses it,
 * clears leftovers away. A visit has a thread of its own and takes as long as it takes. No other
 * begins meanwhile, unless the directory has not answered since: the visit may hang for ever in a
 * mount that has been replaced.
 *
 * <p>Thread safety: {@link #begin} is used by one thread; the rest may be called by any.
 */
final class DirectoryVisits {

  private static final Logger LOG = LoggerFactory.getLogger("io.strata.kafka.migration.remote");

  /** Visits that hang, and the one that does not. */
  private static final int MOST_AT_ONCE = 4;

  private final StoreDirectory directory;
  private final StoreUpkeep upkeep;
  private final Supplier<Duration> orphanAge;
  private final ScrubRounds scrub;
  private final EngineEnvironment environment;
  private final CountDownLatch first = new CountDownLatch(1);

  /** Of those who log: the visits' threads, and the one of the rounds. */
  private final ReportOnce reports = new ReportOnce();

  private volatile boolean troubled;

  /** Of the visit that is under way, or the last one. */
  private volatile CountDownLatch ended = new CountDownLatch(0);

  private final AtomicInteger underWay = new AtomicInteger();

  /** {@link DirectoryAccess#suspensions} when the last visit began. */
  private int suspensions;

  /** When the last visit that has ended began. */
  private volatile OptionalLong visited = OptionalLong.empty();

  DirectoryVisits(
      StoreDirectory directory,
      StoreUpkeep upkeep,
      Supplier<Duration> orphanAge,
      ScrubRounds scrub,
      EngineEnvironment environment) {
    this.directory = directory;
    this.upkeep = upkeep;
    this.orphanAge = orphanAge;
    this.scrub = scrub;
    this.environment = environment;
  }

  StoreDirectory directory() {
    return directory;
  }

  /** Asks the directory whether it is there, and begins a visit if it is and none is under way. */
  void begin() throws InterruptedException {
    try {
      directory.access().ask();
    } catch (StoreUnavailableException e) {
      trouble("cannot be used: " + e.getMessage());
      first.countDown();
      return;
    }
    int suspensionsNow = directory.access().suspensions();
    boolean mayHang = suspensionsNow != suspensions && underWay.get() < MOST_AT_ONCE;
    if (ended.getCount() == 0 || mayHang) {
      suspensions = suspensionsNow;
      CountDownLatch end = new CountDownLatch(1);
      Thread thread = environment.threads().newThread(() -> visit(end));
      thread.setName("strata-remote-visit");
      boolean started = false;
      ended = end;
      int unused = underWay.incrementAndGet();
      try {
        thread.start();
        started = true;
      } finally {
        if (!started) {
          end(end);
        }
      }
    }
  }

  /** Waits until no visit is under way, but not for long. */
  void await(Duration limit) throws InterruptedException {
    boolean unused = ended.await(limit.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Waits until the directory has been visited once, or could not be; not for long. */
  void awaitFirst(Duration limit) throws InterruptedException {
    boolean unused = first.await(limit.toNanos(), TimeUnit.NANOSECONDS);
  }

  /**
   * Returns whether a visit that began after a moment has ended, or the directory cannot be used.
   */
  boolean isVisitedSince(long nanos) {
    OptionalLong last = visited;
    return directory.access().isSuspended() || (last.isPresent() && last.getAsLong() - nanos >= 0);
  }

  /** Returns whether something is wrong with the directory. */
  boolean isTroubled() {
    return troubled;
  }

  private void visit(CountDownLatch end) {
    long began = environment.nanoTime().getAsLong();
    try {
      look(end);
    } catch (InterruptedException e) {
      return; // The broker stops.
    } catch (RuntimeException | Error e) {
      trouble("cannot be looked at: " + e);
    } finally {
      ended(began);
      first.countDown();
      end(end);
    }
  }

  /** The last visit to begin may not be the last to end. */
  private synchronized void ended(long began) {
    if (visited.isEmpty() || began - visited.getAsLong() > 0) {
      visited = OptionalLong.of(began);
    }
  }

  private void end(CountDownLatch visit) {
    int unused = underWay.decrementAndGet();
    visit.countDown();
  }

  /**
   * The sign-in comes first: a listing may take longer than other brokers take a sign-in for a
   * recent one. A directory that cannot be written to is listed all the same.
   */
  private void look(CountDownLatch end) throws InterruptedException {
    Optional<IOException> notWritable = failure(this::signIn);
    Optional<IOException> notListed = failure(this::list);
    if (ended != end) {
      return; // Another visit has begun, and knows more.
    }
    if (notListed.isPresent()) {
      unwritable("cannot be listed", notListed.get());
      return;
    }
    // It gives space back, which the next sign-in may need.
    Optional<IOException> notCleared = failure(this::clear);
    Optional<IOException> problem = notWritable.or(() -> notCleared);
    if (problem.isPresent()) {
      unwritable(whyNotWritable(problem.get()), problem.get());
      return;
    }
    directory.access().writable();
    over();
  }

  private void list() throws IOException {
    List<String> problems = upkeep.refresh(directory);
    problems.forEach(problem -> LOG.error("Remote store: {}", problem));
  }

  private static Optional<IOException> failure(Housekeeping.Work work) throws InterruptedException {
    try {
      work.run();
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of(e);
    }
  }

  /** In its time: a directory may hang for who writes, and answer those who read. */
  private void signIn() throws IOException, InterruptedException {
    directory
        .access()
        .brief(
            "signing in to " + directory,
            control -> {
              upkeep.signIn(directory);
              return true;
            });
  }

  private void clear() throws IOException {
    List<Path> removed = upkeep.clear(directory, orphanAge.get());
    scrub.removed(removed.size());
    if (!removed.isEmpty()) {
      LOG.info("Remote store: removed leftovers of dead processes: {}", removed);
    }
  }

  private static String whyNotWritable(IOException e) {
    if (RemoteFailures.cause(e) == Cause.FULL) {
      return "is full, though its capacity says otherwise: give the store less, or the file system"
          + " more";
    }
    return e instanceof FileSystemException fs && "Read-only file system".equals(fs.getReason())
        ? "is read only"
        : "cannot be written to";
  }

  private void unwritable(String what, IOException e) {
    String trouble = what + ": " + RemoteFailures.describe(e);
    directory.access().unwritable(directory + " " + trouble);
    trouble(trouble);
  }

  private synchronized void trouble(String trouble) {
    troubled = true;
    if (reports.isNew(trouble)) {
      LOG.error("Remote store: {} {}", directory, trouble);
    }
  }

  private synchronized void over() {
    reports.over();
    if (troubled) {
      troubled = false;
      LOG.info("Remote store: {} can be used again", directory);
    }
  }
}
