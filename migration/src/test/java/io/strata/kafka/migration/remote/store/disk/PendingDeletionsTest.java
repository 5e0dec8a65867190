package io.strata.kafka.migration.remote.store.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.migration.remote.faults.FaultyFileSystem;
import io.strata.kafka.migration.remote.faults.FaultyFileSystem.Operation;
import io.strata.kafka.migration.remote.store.ColdCopies.ColdStorage;
import io.strata.kafka.migration.remote.store.FakeCold;
import io.strata.kafka.migration.remote.store.SegmentStore;
import io.strata.kafka.migration.remote.store.Stores;
import io.strata.kafka.migration.remote.store.disk.Deadlines.TimeLimitException;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.StoreStage;
import io.strata.kafka.migration.remote.store.layout.ColdMark;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.StoreIdentity;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Deletions of segments in directories that cannot be used, which Kafka does not repeat. */
class PendingDeletionsTest {

  private static final SegmentInfo SEGMENT = Stores.info("t", 0, 0, 1, 2000);

  @TempDir private Path top = Path.of("");
  private Path ssd = Path.of("");
  private Path hdd = Path.of("");
  private Path logs = Path.of("");
  private final FaultyFileSystem files = new FaultyFileSystem();
  private final AtomicLong now = new AtomicLong(System.currentTimeMillis());

  @BeforeEach
  void directories() throws IOException {
    ssd = Files.createDirectory(top.resolve("ssd"));
    hdd = Files.createDirectory(top.resolve("hdd"));
    logs = Files.createDirectory(top.resolve("logs"));
  }

  private SegmentStore open(List<Path> memory) {
    return open(memory, Optional.empty());
  }

  private SegmentStore open(List<Path> memory, Optional<ColdStorage> cold) {
    return Stores.open(
        new StoreOptions(
            List.of(Stores.level("ssd", files.wrap(ssd)), Stores.level("hdd", files.wrap(hdd))),
            1,
            Stores.CLUSTER,
            memory,
            () -> Instant.ofEpochMilli(now.get()),
            StoreStage.Hook.NONE,
            StoreIdentity::read,
            DirectoryAccess.Threads.NONE),
        cold);
  }

  private static Optional<IOException> deletePending(SegmentStore store)
      throws InterruptedException {
    try (Deadlines calls = new Deadlines("test", 4, PendingDeletionsTest::daemon)) {
      return store.deletePending(calls, Duration.ofMinutes(1), () -> false);
    }
  }

  private void pass(Duration time) {
    long unused = now.addAndGet(time.toMillis());
  }

  /** As after an unmount: the mount point is there, and empty. */
  private Path unmount() throws IOException {
    Path away = Files.move(ssd, top.resolve("away"));
    Path unused = Files.createDirectory(ssd);
    return away;
  }

  private void mount(Path away) throws IOException {
    Files.delete(ssd);
    Path unused = Files.move(away, ssd);
  }

  @Test
  void isDoneWhenTheDirectoryIsBackThoughTheBrokerHasRestarted() throws Exception {
    SegmentStore store = open(List.of(logs));
    SegmentStore.Copied unused = Stores.copy(store, top.resolve("local"), SEGMENT);
    SegmentInfo other = Stores.info("t", 0, 100, 2, 2000);
    SegmentStore.Copied unusedToo = Stores.copy(store, top.resolve("local"), other);
    Path away = unmount();

    assertThat(store.delete(SEGMENT)).isEmpty();
    assertThat(store.delete(SEGMENT)).isEmpty();
    assertThat(deletePending(store)).get().isInstanceOf(StoreUnavailableException.class);
    SegmentStore again = open(List.of(logs));
    assertThat(deletePending(again)).get().isInstanceOf(StoreUnavailableException.class);
    mount(away);
    pass(Duration.ofMinutes(1));

    assertThat(again.lookup.locate(SEGMENT.key())).isPresent();
    assertThat(deletePending(again)).isEmpty();
    assertThat(again.lookup.locate(SEGMENT.key())).isEmpty();
    assertThat(again.lookup.locate(other.key())).isPresent();
    assertThat(logs.resolve(PendingDeletions.FILE)).content().isBlank();
    assertThat(open(List.of(logs)).deletions.all()).isEmpty();
  }

  /** Of a log disk without a free byte the file may not become longer. */
  @Test
  void aNotedDeletionTakesNoSpaceOfTheLogDisk() throws Exception {
    SegmentStore store = open(List.of(logs));
    SegmentStore.Copied unused = Stores.copy(store, top.resolve("local"), SEGMENT);
    Path unusedToo = unmount();
    Path file = logs.resolve(PendingDeletions.FILE);
    long before = Files.size(file);

    assertThat(store.delete(SEGMENT)).isEmpty();

    assertThat(Files.size(file)).isEqualTo(before);
    assertThat(open(List.of(logs)).deletions.all()).hasSize(1);
  }

  /** A lost directory is taken out of the configuration. */
  @Test
  void isDoneWhenTheDirectoryIsNotConfiguredAnyMore() throws Exception {
    SegmentStore store = open(List.of(logs));
    SegmentStore.Copied unused = Stores.copy(store, top.resolve("local"), SEGMENT);
    Path unusedToo = unmount();
    assertThat(store.delete(SEGMENT)).isEmpty();

    SegmentStore without =
        new SegmentStore(
            Stores.options(1, List.of(logs), StoreStage.Hook.NONE, Stores.level("hdd", hdd)),
            Optional.empty());
    assertThat(deletePending(without)).isEmpty();
    assertThat(without.deletions.all()).isEmpty();

    // A new disk in its place is a new directory.
    assertThat(open(List.of(logs)).warnings).isEmpty();
    assertThat(StoreIdentity.read(ssd).storeId()).isEqualTo(without.storeId());
  }

  @Test
  void isLeftToKafkaWhereItCannotBeNoted() throws Exception {
    SegmentStore store = open(List.of(logs));
    SegmentStore.Copied unused = Stores.copy(store, top.resolve("local"), SEGMENT);
    Path unusedToo = unmount();
    Path unusedThree = Files.move(logs, top.resolve("failed"));

    assertThatThrownBy(() -> store.delete(SEGMENT)).isInstanceOf(StoreUnavailableException.class);
    assertThat(store.deletions.all()).isEmpty();
  }

  @Test
  void theCopiesThatCanBeReachedGoAtOnce() throws Exception {
    SegmentStore store = open(List.of(logs));
    SegmentStore.Copied unused = Stores.copy(store, top.resolve("local"), SEGMENT);
    Path below = StoreNames.segment(hdd, SEGMENT.key());
    Path unusedToo = Files.createDirectories(Disk.parent(below));
    Path unusedThree = Files.move(StoreNames.segment(ssd, SEGMENT.key()), below);
    Path unusedFour = unmount();

    assertThat(store.delete(SEGMENT)).hasSize(1);
    assertThat(below).doesNotExist();
  }

  @ParameterizedTest
  @ValueSource(strings = {"Input/output error", "Read-only file system"})
  void aDirectoryThatFailsIsNoReasonToKeepASegment(String reason) throws Exception {
    SegmentStore store = open(List.of(logs));
    SegmentStore.Copied unused = Stores.copy(store, top.resolve("local"), SEGMENT);
    Runnable over =
        files.fail(
            reason,
            (operation, path) ->
                operation == Operation.WRITE && path.toString().contains("/ssd/trash"));

    assertThat(store.delete(SEGMENT)).isEmpty();
    over.run();
    assertThat(store.lookup.locate(SEGMENT.key())).isPresent();
    assertThat(deletePending(store)).isEmpty();
    assertThat(store.lookup.locate(SEGMENT.key())).isEmpty();
  }

  @Test
  void whatTheColdManagerDoesNotDeleteNowIsDeletedLater() throws Exception {
    FakeCold cold = new FakeCold();
    SegmentStore store = open(List.of(logs), Optional.of(cold));
    SegmentStore.Copied unused = Stores.copy(store, top.resolve("local"), SEGMENT);
    Path segment = StoreNames.segment(ssd, SEGMENT.key());
    cold.segments.put(SEGMENT.key().id(), new byte[1]);
    Path unusedToo =
        Files.write(
            segment.resolve(StoreNames.COLD),
            ColdMark.done(cold.className(), Optional.empty()).print());
    cold.failing = true;

    assertThat(store.delete(SEGMENT)).isEmpty();
    assertThat(cold.segments).isNotEmpty();
    cold.failing = false;
    assertThat(deletePending(open(List.of(logs), Optional.of(cold)))).isEmpty();
    assertThat(cold.segments).isEmpty();
    assertThat(segment).doesNotExist();
  }

  /** Each attempt asks all directories: what fails for long is not tried each minute. */
  @Test
  void whatFailsForLongIsTriedOnceInAnHour() throws Exception {
    SegmentStore store = open(List.of(logs));
    SegmentStore.Copied unused = Stores.copy(store, top.resolve("local"), SEGMENT);
    AtomicInteger attempts = new AtomicInteger();
    Runnable over =
        files.fail(
            "Input/output error",
            (operation, path) ->
                operation == Operation.WRITE
                    && path.toString().contains("/ssd/trash")
                    && attempts.incrementAndGet() > 0);
    assertThat(store.delete(SEGMENT)).isEmpty();
    List<Integer> minutes = new ArrayList<>();
    for (int minute = 0; minute < 300; minute++) {
      int before = attempts.get();
      var unusedToo = deletePending(store);
      if (attempts.get() > before) {
        minutes.add(minute);
      }
      pass(Duration.ofMinutes(1));
    }
    assertThat(minutes).containsExactly(0, 1, 3, 7, 15, 31, 63, 123, 183, 243);
    SegmentInfo other = Stores.info("t", 0, 100, 2, 2000);
    over.run();
    assertThat(store.deletions.add(other)).isTrue();
    assertThat(deletePending(store)).isEmpty();
    assertThat(store.deletions.all()).as("a new one does not wait").hasSize(1);
    pass(Duration.ofHours(1));
    assertThat(deletePending(store)).isEmpty();
    assertThat(store.lookup.locate(SEGMENT.key())).isEmpty();
  }

  /** In one partition's directory, while the rest of the file system answers. */
  @Test
  void aDeletionThatHangsKeepsNoOtherWaiting() throws Exception {
    CountDownLatch released = new CountDownLatch(1);
    AtomicInteger reached = new AtomicInteger();
    SegmentStore store =
        Stores.open(
            new StoreOptions(
                List.of(Stores.level("ssd", ssd)),
                1,
                Stores.CLUSTER,
                List.of(logs),
                () -> Instant.ofEpochMilli(now.get()),
                stage -> {
                  if (stage != StoreStage.DELETE_TRASHED || reached.getAndIncrement() > 0) {
                    return;
                  }
                  boolean interrupted = false; // As in the kernel.
                  while (released.getCount() > 0) {
                    interrupted |= Thread.interrupted();
                    LockSupport.parkNanos(1_000_000);
                  }
                  if (interrupted) {
                    Thread.currentThread().interrupt();
                  }
                },
                StoreIdentity::read,
                new DirectoryAccess.Threads(
                    Optional.of(PendingDeletionsTest::daemon),
                    Duration.ofMillis(100),
                    System::nanoTime)),
            Optional.empty());
    SegmentInfo other = Stores.info("other", 0, 0, 2, 2000);
    SegmentStore.Copied unused = Stores.copy(store, top.resolve("local"), SEGMENT);
    SegmentStore.Copied unusedToo = Stores.copy(store, top.resolve("local2"), other);
    assertThat(store.deletions.add(SEGMENT)).isTrue();
    assertThat(store.deletions.add(other)).isTrue();
    try (Deadlines calls = new Deadlines("test", 4, PendingDeletionsTest::daemon)) {
      assertThat(store.deletePending(calls, Duration.ofMillis(200), () -> false))
          .get()
          .isInstanceOf(TimeLimitException.class);
      assertThat(store.lookup.locate(other.key())).isEmpty();
      for (int i = 0; i < 5; i++) {
        pass(Duration.ofHours(1));
        assertThat(store.deletePending(calls, Duration.ofMillis(200), () -> false))
            .get()
            .asString()
            .contains("an earlier deletion has not come back");
      }
      assertThat(store.stuck() + calls.stuck()).as("threads that hang").isEqualTo(1);
      released.countDown();
      Awaitility.await().until(() -> store.stuck() == 0);
      pass(Duration.ofHours(1));
      assertThat(store.deletePending(calls, Duration.ofMinutes(1), () -> false)).isEmpty();
    }
    assertThat(store.lookup.locate(SEGMENT.key())).isEmpty();
    assertThat(store.deletions.all()).isEmpty();
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work);
    thread.setDaemon(true);
    return thread;
  }

  /** Of several; what is to be noted waits for it. */
  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aLogDirectoryThatHangsKeepsNoCopyAndNoOtherDeletionWaiting() throws Exception {
    Path hanging = Files.createDirectory(top.resolve("hanging"));
    SegmentStore store = open(List.of(logs, files.wrap(hanging)));
    SegmentInfo noted = Stores.info("noted", 0, 0, 2, 2000);
    assertThat(store.deletions.add(noted)).isTrue();
    Runnable over =
        files.hang((operation, path) -> operation == Operation.WRITE && path.startsWith(hanging));
    ExecutorService threads = Executors.newCachedThreadPool(PendingDeletionsTest::daemon);
    try {
      Future<Boolean> added = threads.submit(() -> store.deletions.add(SEGMENT));
      Future<?> done = threads.submit(() -> store.deletions.done(List.of(noted)));
      Awaitility.await().until(() -> files.hanging() == 1 && !store.deletions.has(noted));

      SegmentInfo other = Stores.info("other", 0, 0, 3, 2000);
      SegmentStore.Copied unused = Stores.copy(store, top.resolve("local"), other);
      assertThat(store.delete(other)).hasSize(1);
      assertThat(store.deletions.due(now.get())).doesNotContain(other);

      over.run();
      assertThat(added.get()).isTrue();
      assertThat(done.get()).isNull();
      for (Path place : List.of(logs, hanging)) {
        assertThat(new PendingDeletions(List.of(place)).all()).containsExactly(SEGMENT);
      }
    } finally {
      over.run();
      threads.shutdownNow();
    }
  }

  /** What a power failure has torn was not acknowledged; what comes after it is read. */
  @Test
  void aTornLineIsSkipped() throws Exception {
    PendingDeletions noted = new PendingDeletions(List.of(logs));
    assertThat(noted.add(SEGMENT)).isTrue();
    Path file = logs.resolve(PendingDeletions.FILE);
    byte[] whole = Files.readAllBytes(file);
    byte[] torn = java.util.Arrays.copyOf(whole, whole.length / 2);
    torn[torn.length - 1] = (byte) 0xc3;
    Path unused = Files.write(file, torn, StandardOpenOption.APPEND);
    SegmentInfo second = Stores.info("t", 0, 100, 2, 2000);
    assertThat(new PendingDeletions(List.of(logs)).add(second)).isTrue();

    PendingDeletions read = new PendingDeletions(List.of(top.resolve("failed"), logs));

    assertThat(read.all()).containsExactly(SEGMENT, second);
    read.done(List.of(SEGMENT));
    assertThat(new PendingDeletions(List.of(logs)).all()).containsExactly(second);
  }
}
