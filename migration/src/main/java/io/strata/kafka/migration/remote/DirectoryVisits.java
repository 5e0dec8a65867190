package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.remote.RemoteStats.Cause;
import io.strata.kafka.migration.remote.store.StoreUpkeep;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import java.io.IOException;
import java.nio.file.FileSystemException;
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
 * clears leftovers away. A visit has a thread and no time limit. Another one begins when it has
 * ended, or has made no progress for ten minutes while the directory answers: it may hang for ever
 * in a mount that was replaced. The visit that began last decides what is said of the directory.
 *
 * <p>Thread safety: {@link #begin} is used by one thread; the rest may be called by any.
 */
final class DirectoryVisits {

  private static final Logger LOG = LoggerFactory.getLogger("io.strata.kafka.migration.remote");

  /** The most visits at once: those that hang, and one more. */
  private static final int MOST_AT_ONCE = 4;

  /** A visit that makes no progress for so long hangs. */
  private static final Duration STALLED = Duration.ofMinutes(10);

  final StoreDirectory directory;
  private final StoreUpkeep upkeep;
  private final Supplier<Duration> orphanAge;
  private final ScrubRounds scrub;
  private final EngineEnvironment environment;
  private final CountDownLatch first = new CountDownLatch(1);

  /** Log each trouble once, whichever thread finds it: a visit's, or the one of the rounds. */
  private final ReportOnce reports = new ReportOnce();

  private final ReportOnce copyReports = new ReportOnce();
  private final ReportOnce leftReports = new ReportOnce();

  private volatile boolean troubled;

  /** The visit that began last; zero when it has ended. */
  private volatile CountDownLatch last = new CountDownLatch(0);

  private final AtomicInteger underWay = new AtomicInteger();

  /** The time at which the visit that began last has come further. */
  private volatile long progressed;

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

  /** Asks the directory whether it is there, and begins a visit if it is time for one. */
  void begin() throws InterruptedException {
    try {
      directory.ask();
    } catch (StoreUnavailableException e) {
      trouble("cannot be used: " + e.getMessage());
      first.countDown();
      return;
    }
    if (last.getCount() > 0) {
      if (now() - progressed < STALLED.toNanos()) {
        return;
      }
      trouble("answers, and a visit of it hangs: look at its mount, and for a damaged directory");
      if (underWay.get() == MOST_AT_ONCE) {
        return;
      }
    }
    start(new CountDownLatch(1));
  }

  private void start(CountDownLatch visit) {
    Thread thread = environment.threads().newThread(() -> visit(visit));
    thread.setName("strata-remote-visit");
    synchronized (this) {
      last = visit;
    }
    progressed = now();
    int unused = underWay.incrementAndGet();
    try {
      thread.start();
    } catch (Throwable e) {
      end(visit);
      throw e;
    }
  }

  private long now() {
    return environment.nanoTime().getAsLong();
  }

  /** Waits until the visit that began last has ended, but not for long. */
  void await(Duration limit) throws InterruptedException {
    boolean unused = last.await(limit.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Waits until the directory has been visited once, or could not be; not for long. */
  void awaitFirst(Duration limit) throws InterruptedException {
    boolean unused = first.await(limit.toNanos(), TimeUnit.NANOSECONDS);
  }

  /**
   * Returns whether a visit that began after a moment has ended, or the directory cannot be used.
   */
  boolean isVisitedSince(long nanos) {
    OptionalLong began = visited;
    return directory.isSuspended() || (began.isPresent() && began.getAsLong() - nanos >= 0);
  }

  boolean isTroubled() {
    return troubled;
  }

  private void visit(CountDownLatch visit) {
    long began = now();
    try {
      look(visit);
    } catch (InterruptedException e) {
      return; // The broker stops.
    } catch (RuntimeException | Error e) {
      say(visit, () -> trouble("cannot be looked at: " + e));
    } finally {
      say(visit, () -> visited = OptionalLong.of(began));
      first.countDown();
      end(visit);
    }
  }

  private void end(CountDownLatch visit) {
    int unused = underWay.decrementAndGet();
    visit.countDown();
  }

  /** Runs what a visit says of the directory, unless another one has begun since. */
  private synchronized void say(CountDownLatch visit, Runnable finding) {
    if (last == visit) {
      finding.run();
    }
  }

  /**
   * The sign-in comes first: a listing may take longer than other brokers take a sign-in for a
   * recent one. A directory that cannot be written to is listed too.
   */
  private void look(CountDownLatch visit) throws InterruptedException {
    Optional<IOException> notWritable = failure(this::signIn);
    progress(visit);
    try {
      List<String> problems = upkeep.store().known.refresh(directory, () -> progress(visit));
      problems.forEach(problem -> LOG.error("Remote store: {}", problem));
    } catch (IOException e) {
      say(visit, () -> unwritable("cannot be listed", e));
      return;
    }
    progress(visit);
    // It gives space back, which the next sign-in may need.
    Optional<IOException> notCleared = failure(this::clear);
    Optional<IOException> problem = notWritable.or(() -> notCleared);
    if (problem.isPresent()) {
      say(visit, () -> unwritable(whyNotWritable(problem.get()), problem.get()));
      return;
    }
    say(
        visit,
        () -> {
          directory.writable();
          over();
        });
  }

  private void progress(CountDownLatch visit) {
    if (last == visit) {
      progressed = now();
    }
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
    directory.brief(
        "signing in to " + directory,
        control -> {
          upkeep.signIn(directory);
          return true;
        });
  }

  private void clear() throws IOException {
    StoreUpkeep.Cleared cleared = upkeep.clear(directory, orphanAge.get());
    scrub.removed(cleared.removed().size());
    if (!cleared.removed().isEmpty()) {
      LOG.info("Remote store: removed leftovers of dead processes: {}", cleared.removed());
    }
    int left = cleared.left().size();
    scrub.left(directory, left);
    if (left == 0) {
      leftReports.over();
    } else if (leftReports.isNew("left")) {
      LOG.warn(
          """
          Remote store: {}: {} deleted segments or leftovers cannot be removed whole, which is \
          tried again with each look at the directory: {}\
          """,
          directory,
          left,
          cleared.left().get(0));
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
    directory.unwritable(directory + " " + trouble);
    trouble(trouble);
  }

  private synchronized void trouble(String trouble) {
    troubled = true;
    if (reports.isNew(trouble)) {
      LOG.error("Remote store: {} {}", directory, trouble);
    }
  }

  /** Logs why copies go elsewhere, once for each time that they do. */
  synchronized void reportCopies() {
    Optional<String> why = directory.copies.reason();
    if (why.isPresent() && copyReports.isNew(why.get())) {
      LOG.error(
          "Remote store: {}. Copies go to other directories for a while, where one takes them; look"
              + " at the free space and inodes, the quotas, and the owners of the files",
          why.get());
    }
  }

  private synchronized void over() {
    reports.over();
    if (troubled) {
      troubled = false;
      LOG.info("Remote store: {} can be used again", directory);
    }
  }

  /**
   * Has a trouble that lasts reported once: again only if it is another one, or was over meanwhile.
   *
   * <p>Thread safety: used by one thread.
   */
  static final class ReportOnce {

    private String last = "";

    /** Notes a trouble; returns whether it is to be reported. */
    boolean isNew(String trouble) {
      boolean isNew = !trouble.equals(last);
      last = trouble;
      return isNew;
    }

    void over() {
      last = "";
    }
  }
}
