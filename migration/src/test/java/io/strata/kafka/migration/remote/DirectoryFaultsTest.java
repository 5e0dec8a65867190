package io.strata.kafka.migration.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.migration.remote.faults.FaultyFileSystem.Operation;
import io.strata.kafka.migration.remote.store.SegmentStore;
import io.strata.kafka.migration.remote.store.disk.Deadlines.TimeLimitException;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * One directory hangs, fails or is read only: the others, and what is done in the background, go
 * on.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DirectoryFaultsTest {

  /** More than all threads that read. */
  private static final int READERS = 80;

  @TempDir private Path top = Path.of("");
  private TierBench bench = new TierBench(Path.of(""));
  private final ExecutorService executor = Executors.newCachedThreadPool();
  private final List<Runnable> faults = new ArrayList<>();

  @BeforeEach
  void bench() {
    bench = new TierBench(top);
  }

  @AfterEach
  void close() {
    faults.forEach(Runnable::run);
    bench.close();
    var unused = executor.shutdownNow();
  }

  private static ConditionFactory soon() {
    return await().atMost(Duration.ofSeconds(100));
  }

  private boolean isIn(String directory, Path path) {
    return path.startsWith(bench.directory(directory));
  }

  @Test
  void aDirectoryThatHangsLeavesTheReadersOfAnotherAlone() throws Exception {
    bench.level("ssd", TierBench.BYTES * 3 / 2, "a").level("hdd", 1 << 30, "b");
    RemoteTier tier = bench.open();
    SegmentInfo healthy = bench.copied(tier);
    SegmentInfo hanging = bench.copied(tier);
    assertThat(bench.logs("a")).isEqualTo(1);
    assertThat(bench.logs("b")).isEqualTo(1);
    byte[] unused = TierBench.read(tier, hanging);
    Runnable over = bench.files.hang((operation, path) -> isIn("b", path));
    faults.add(over);
    CountDownLatch asking = new CountDownLatch(READERS);
    for (int i = 0; i < READERS; i++) {
      executor.execute(
          () -> {
            asking.countDown();
            try {
              byte[] unusedToo = TierBench.read(tier, hanging);
            } catch (IOException | InterruptedException e) {
              // It hangs.
            }
          });
    }
    asking.await();
    soon().until(() -> TierBench.isRead(tier, healthy));
    // All that wait for it end soon, and no other begins to.
    soon().until(() -> TierBench.stats(tier).levels().get(1).unavailableDirectories() == 1);
    assertThat(TierBench.isRead(tier, hanging)).isFalse();
    assertThat(TierBench.isRead(tier, healthy)).isTrue();
    over.run();
    soon().until(() -> TierBench.isRead(tier, hanging));
    soon().until(() -> TierBench.stats(tier).levels().get(1).unavailableDirectories() == 0);
    soon().until(() -> TierBench.stats(tier).stuckThreads() == 0);
  }

  /** A local disk that hangs: its identity is read every few seconds, so that it is in memory. */
  @Test
  void aDiskThatHangsWhoseIdentityIsInMemoryLeavesTheReadersOfAnotherAlone() throws Exception {
    bench.level("ssd", TierBench.BYTES * 3 / 2, "a").level("hdd", 1 << 30, "b");
    RemoteTier tier = bench.open();
    SegmentInfo healthy = bench.copied(tier);
    List<SegmentInfo> hanging = new ArrayList<>();
    for (int i = 0; i < READERS; i++) {
      hanging.add(bench.copied(tier));
    }
    faults.add(
        bench.files.hang(
            (operation, path) -> isIn("b", path) && !path.endsWith("strata-store.json")));
    CountDownLatch asking = new CountDownLatch(READERS);
    for (SegmentInfo one : hanging) {
      executor.execute(
          () -> {
            asking.countDown();
            try {
              byte[] unusedToo = TierBench.read(tier, one);
            } catch (IOException | InterruptedException e) {
              // It hangs.
            }
          });
    }
    asking.await();
    soon().until(() -> bench.files.hanging() >= 30);
    assertThat(TierBench.isRead(tier, healthy)).isTrue();
  }

  /** One read is enough: copies go elsewhere, and no call waits for the disk until it is back. */
  @Test
  @Tag("long")
  void aDiskOnWhichAReadHangsIsSuspendedThoughItsIdentityIsInMemory() throws Exception {
    bench.level("ssd", 1 << 30, "a", "b");
    RemoteTier tier = bench.open();
    soon().until(() -> TierBench.stats(tier).levels().get(0).unavailableDirectories() == 0);
    SegmentInfo first = bench.copied(tier);
    String where = bench.logs("a") == 1 ? "a" : "b";
    Runnable over =
        bench.files.hang(
            (operation, path) ->
                isIn(where, path) && path.getFileName().toString().endsWith(".log"));
    faults.add(over);
    executor.execute(() -> readAnyhow(tier, first));
    soon().until(() -> TierBench.stats(tier).levels().get(0).unavailableDirectories() == 1);
    long before = bench.logs(where);
    SegmentInfo second = bench.copied(tier);
    assertThat(bench.logs(where)).isEqualTo(before);
    assertThat(TierBench.isRead(tier, second)).isTrue();
    over.run();
    soon().until(() -> TierBench.isRead(tier, first));
    soon().until(() -> TierBench.stats(tier).levels().get(0).unavailableDirectories() == 0);
  }

  private static void readAnyhow(RemoteTier tier, SegmentInfo segment) {
    try {
      byte[] unused = TierBench.read(tier, segment);
    } catch (IOException | InterruptedException e) {
      // It hangs.
    }
  }

  /** A mount that hangs for ever, say, and another one in its place. */
  @Test
  void aReadThatHangsForEverDoesNotHideThatTheDirectoryIsBack() throws Exception {
    bench.level("ssd", 1 << 30, "a");
    RemoteTier tier = bench.open();
    SegmentInfo first = bench.copied(tier);
    SegmentInfo second = bench.copied(tier);
    AtomicInteger reads = new AtomicInteger();
    faults.add(
        bench.files.hang(
            (operation, path) ->
                path.getFileName().toString().endsWith(".log") && reads.incrementAndGet() == 1));
    // It ends when the directory is suspended; that may be over before a look at the directory.
    var suspended = executor.submit(() -> readAnyhow(tier, first));
    soon().until(suspended::isDone);
    soon().until(() -> TierBench.isRead(tier, second));
    assertThat(bench.files.hanging()).isEqualTo(1);
  }

  /** Of a deleted topic Kafka asks once. */
  @Test
  void aDeletionThatRunsOutOfItsTimeIsDoneLater() throws Exception {
    bench.level("ssd", 1 << 30, "a");
    bench.memory = List.of(Files.createDirectory(top.resolve("logs")));
    bench.deleteTimeout = Duration.ofMillis(100);
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.copied(tier);
    Runnable over =
        bench.files.hang(
            (operation, path) -> operation == Operation.WRITE && isIn("a/trash", path));
    faults.add(over);
    assertThat(tier.delete("orders", segment)).isZero();
    assertThat(bench.logs("a")).isEqualTo(1);
    Path noted = bench.memory.get(0).resolve("strata-remote-deletions");
    assertThat(noted).content().contains(segment.key().id());
    over.run();
    soon().until(() -> Files.readString(noted).isBlank());
    assertThat(bench.logs("a")).isZero();
  }

  /** The note beside the damaged copy cannot be written. */
  @Test
  @Tag("long")
  void aReaderGetsTheGoodCopyThoughTheDamagedOnesDirectoryHangs() throws Exception {
    bench.threshold = 0;
    bench.level("ssd", 1 << 30, "a").level("hdd", 1 << 30, "b");
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.copied(tier);
    soon().until(() -> bench.logs("b") == 1);
    Path log = log("a");
    byte[] wrong = Files.readAllBytes(log);
    wrong[1000] ^= 1;
    Path unused = Files.write(log, wrong);
    faults.add(
        bench.files.hang(
            (operation, path) ->
                operation == Operation.WRITE
                    && isIn("a", path)
                    && path.getFileName().toString().startsWith("damaged")));
    assertThat(TierBench.read(tier, segment)).isEqualTo(TierBench.bytes(segment));
  }

  @Test
  void aDirectoryThatHangsSendsCopiesToAnotherOfItsLevel() throws Exception {
    bench.level("ssd", 1 << 30, "a", "b");
    RemoteTier tier = bench.open();
    SegmentInfo unused = bench.copied(tier);
    faults.add(bench.files.hang((operation, path) -> isIn("b", path)));
    AtomicInteger copies = new AtomicInteger();
    for (int i = 0; i < READERS; i++) {
      SegmentInfo segment = bench.segment();
      executor.execute(
          () -> {
            try {
              bench.copy(tier, segment);
              int unusedToo = copies.incrementAndGet();
            } catch (IOException | InterruptedException e) {
              // It hangs, or was sent there.
            }
          });
    }
    soon()
        .until(
            () -> {
              SegmentInfo one = bench.copied(tier);
              return TierBench.isRead(tier, one);
            });
  }

  @Test
  void aListingThatHangsIsTheOnlyOneAndTakesNoDirectoryOutOfUse() throws Exception {
    bench.level("ssd", TierBench.BYTES * 3 / 2, "a").level("hdd", 1 << 30, "b");
    RemoteTier tier = bench.open();
    SegmentInfo unused = bench.copied(tier);
    SegmentInfo slow = bench.copied(tier);
    AtomicInteger rounds = new AtomicInteger();
    Runnable over =
        bench.files.hang(
            (operation, path) -> {
              if (operation == Operation.LIST && path.endsWith("a/topics")) {
                int unusedToo = rounds.incrementAndGet();
              }
              return operation == Operation.LIST && isIn("b/topics", path);
            });
    faults.add(over);
    soon().until(() -> bench.files.hanging() > 0);
    assertThat(TierBench.read(tier, slow)).isEqualTo(TierBench.bytes(slow));
    int before = rounds.get();
    soon().until(() -> rounds.get() > before);
    assertThat(bench.files.hanging()).isEqualTo(1);
    assertThat(TierBench.read(tier, slow)).isEqualTo(TierBench.bytes(slow));
    assertThat(TierBench.stats(tier).levels().get(1).unavailableDirectories()).isZero();
  }

  @Test
  void aPartitionThatCannotBeListedTakesNothingElseOutOfUse() throws Exception {
    bench.scrub = Duration.ofHours(3);
    bench.level("ssd", 1 << 30, "a");
    RemoteTier tier = bench.open();
    SegmentInfo first = bench.copied(tier);
    SegmentInfo second = bench.copied(tier);
    soon().until(() -> isKnown(bench.store(), second));
    awaitScrubDates("a");
    Path partition = Path.of("" + first.key().partition());
    Runnable over =
        bench.files.fail(
            "Input/output error",
            (operation, path) ->
                operation == Operation.LIST && isIn("a/topics", path) && path.endsWith(partition));
    faults.add(over);
    Path left = Files.createDirectories(bench.directory("a").resolve("staging/1-dead"));
    soon().until(() -> !Files.exists(left));
    assertThat(TierBench.stats(tier).levels().get(0).unavailableDirectories()).isZero();
    assertThat(isKnown(bench.store(), first)).isTrue();
    assertThat(TierBench.isRead(tier, bench.copied(tier))).isTrue();

    bench.aheadMillis.set(Duration.ofHours(4).toMillis());
    soon().until(() -> TierBench.stats(tier).scrub().rounds().sum() == 1);
    assertThat(TierBench.stats(tier).scrub().missingObjects().sum()).isEqualTo(1);
    assertThat(TierBench.stats(tier).scrub().objects().sum()).as("of two segments").isEqualTo(4);
    assertThat(TierBench.stats(tier).scrub().lastEndMillis().get()).as("all were read").isEmpty();

    over.run();
    bench.aheadMillis.set(Duration.ofMinutes(5 * 60 + 10).toMillis());
    soon().until(() -> TierBench.stats(tier).scrub().rounds().sum() == 2);
    assertThat(TierBench.stats(tier).scrub().objects().sum()).as("of all three").isEqualTo(10);
    assertThat(TierBench.stats(tier).scrub().lastEndMillis().get()).isPresent();
  }

  /** As a file that is open elsewhere, on NFS: it goes to a name of its own and is busy. */
  @Test
  void oneFileThatCannotBeRemovedKeepsNoOtherOfItsSegment() throws Exception {
    bench.level("ssd", 1 << 30, "a");
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.copied(tier);
    Runnable over =
        bench.files.fail(
            "Device or resource busy",
            (operation, path) ->
                operation == Operation.WRITE
                    && isIn("a", path)
                    && path.toString().endsWith(".log")
                    && path.toString().contains("trash"));
    faults.add(over);
    long unused = tier.delete("it", segment);
    List<Path> left = ChangingTree.files(bench.directory("a").resolve("trash"));
    assertThat(left).singleElement().asString().endsWith(".log");
    soon().until(() -> TierBench.stats(tier).scrub().orphansLeft().sum() == 1);
    assertThat(TierBench.stats(tier).levels().get(0).unavailableDirectories()).isZero();
    over.run();
    soon().until(() -> TierBench.stats(tier).scrub().orphansLeft().sum() == 0);
    assertThat(ChangingTree.files(bench.directory("a").resolve("trash"))).isEmpty();
  }

  @Test
  void aReadOnlyDirectoryDoesNotKeepTheOthersFromMoving() throws Exception {
    bench.threshold = 0;
    bench.level("ssd", 1 << 30, "a", "b").level("hdd", 1 << 30, "c");
    bench.open().close();
    faults.add(
        bench.files.fail(
            "Read-only file system",
            (operation, path) -> operation == Operation.WRITE && isIn("b", path)));
    RemoteTier tier = bench.open();
    soon().until(() -> TierBench.stats(tier).levels().get(0).unavailableDirectories() == 1);
    SegmentInfo unused = bench.copied(tier);
    soon().until(() -> bench.logs("c") == 1);
  }

  /** Consumers wait for it; the best of three, since the machine may be busy with other tests. */
  @Test
  void aDirectoryThatIsBackIsReadWithinPartsOfASecond() throws Exception {
    bench.known = Duration.ofSeconds(2);
    bench.level("ssd", 1 << 30, "a");
    RemoteTier tier = bench.open();
    long best = Long.MAX_VALUE;
    for (int outage = 0; outage < 3; outage++) {
      soon().until(() -> TierBench.stats(tier).levels().get(0).unavailableDirectories() == 0);
      SegmentInfo segment = bench.copied(tier);
      Runnable over = bench.files.fail("Input/output error", (operation, path) -> true);
      faults.add(over);
      soon().until(() -> TierBench.stats(tier).levels().get(0).unavailableDirectories() == 1);
      over.run();
      long back = System.nanoTime();
      while (!TierBench.isRead(tier, segment)) {
        Thread.sleep(5);
      }
      best = Math.min(best, System.nanoTime() - back);
    }
    assertThat(Duration.ofNanos(best)).isLessThan(Duration.ofMillis(600));
  }

  /** As after an outage of a server of NFS; the engine that begins counts on. */
  @Test
  void movesGoOnWhenTheDirectoriesAreBack() throws Exception {
    bench.threshold = 0;
    bench.level("ssd", 1 << 30, "a").level("hdd", 1 << 30, "c");
    RemoteTier tier = bench.open();
    for (int i = 0; i < 3; i++) {
      SegmentInfo unused = bench.copied(tier);
    }
    soon().until(() -> destaged(tier) == 3);
    Runnable over = bench.files.fail("Input/output error", (operation, path) -> true);
    faults.add(over);
    soon().until(() -> TierBench.stats(tier).migration().isEmpty());
    over.run();
    soon().until(() -> TierBench.stats(tier).migration().isPresent());
    SegmentInfo unused = bench.copied(tier);
    soon().until(() -> bench.logs("c") == 4);
    soon().until(() -> destaged(tier) == 4);
  }

  private static long destaged(RemoteTier tier) {
    MigrationStats engine = TierBench.stats(tier).migration().orElseThrow();
    return engine.meters().tiers().get(0).destaged().number().sum();
  }

  @Test
  void aDamagedSignInOfAnotherBrokerKeepsNobodyFromMoving() throws Exception {
    bench.threshold = 0;
    bench.level("ssd", 1 << 30, "a").level("hdd", 1 << 30, "c");
    bench.open().close();
    Path unused = Files.write(bench.directory("a").resolve("brokers/99.json"), new byte[0]);
    RemoteTier tier = bench.open();
    SegmentInfo unusedToo = bench.copied(tier);
    soon().until(() -> bench.logs("c") == 1);
  }

  /** It has other directories, and is gone; its clock was years ahead. */
  @Test
  void aSignInByAClockThatWasAheadKeepsNobodyFromMoving() throws Exception {
    bench.threshold = 0;
    bench.level("ssd", 1 << 30, "a");
    bench.broker = 7;
    bench.aheadMillis.set(Duration.ofDays(3650).toMillis());
    RemoteTier gone = bench.open();
    soon().until(() -> Files.exists(bench.directory("a").resolve("brokers/7.json")));
    gone.close();
    bench.aheadMillis.set(0);
    bench.broker = 1;
    bench.level("hdd", 1 << 30, "c");
    RemoteTier tier = bench.open();
    SegmentInfo unused = bench.copied(tier);
    soon().until(() -> bench.logs("c") == 1);
  }

  /** One broker moves segments; each makes space for what it copies. */
  @Test
  void aBrokerThatDoesNotMoveEvictsWhatIsCleanForItsCopies() throws Exception {
    bench.threshold = 0;
    bench.level("ssd", 150_000, "a").level("hdd", 1 << 30, "b");
    RemoteTier mover = bench.open();
    SegmentInfo unused = bench.copied(mover);
    soon().until(() -> bench.logs("a") == 1 && bench.logs("b") == 1);
    bench.broker = 2;
    RemoteTier other = bench.open();
    soon().until(() -> isCopiedTo("a", other));
  }

  /** Copies a segment; returns whether it went to a directory. */
  private boolean isCopiedTo(String directory, RemoteTier tier)
      throws IOException, InterruptedException {
    String id = bench.copied(tier).key().id();
    return ChangingTree.files(bench.directory(directory).resolve("topics")).stream()
        .anyMatch(path -> path.toString().matches(".*" + id + ".*[.]log"));
  }

  @Test
  void aDirectoryThatHangsKeepsNoBrokerFromEvictingInAnotherOne() throws Exception {
    bench.patience = Duration.ofMillis(200);
    bench.threshold = 0;
    bench.level("ssd", 150_000, "a").level("hdd", 1 << 30, "b", "c");
    RemoteTier mover = bench.open();
    SegmentInfo unused = bench.copied(mover);
    soon().until(() -> bench.logs("a") == 1 && bench.logs("b") + bench.logs("c") == 1);
    bench.broker = 2;
    RemoteTier other = bench.open();
    String hanging = bench.logs("b") == 1 ? "c" : "b";
    soon().until(() -> Files.exists(bench.directory(hanging).resolve("brokers/2.json")));
    faults.add(bench.files.hang((operation, path) -> isIn(hanging, path)));
    soon().until(() -> TierBench.stats(other).stuckThreads() > 0);
    awaitSignIn("a", 2);
    awaitSignIn("a", 2); // A round is over.
    soon().until(() -> isCopiedTo("a", other));
    assertThat(TierBench.stats(other).stuckThreads()).isPositive();
  }

  private void awaitSignIn(String directory, int broker) throws IOException {
    Path signIn = bench.directory(directory).resolve("brokers/" + broker + ".json");
    FileTime before = Files.getLastModifiedTime(signIn);
    soon().ignoreExceptions().until(() -> !Files.getLastModifiedTime(signIn).equals(before));
  }

  /** A read hangs for ever in the mount that was replaced, and the lock there has gone. */
  @Test
  void aThreadThatHangsForEverKeepsNoLockOfTheMover() throws Exception {
    bench.patience = Duration.ofMillis(200);
    bench.level("ssd", 1 << 30, "a").level("hdd", 1 << 30, "b");
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.copied(tier);
    soon().until(() -> TierBench.stats(tier).migration().isPresent());
    AtomicInteger reads = new AtomicInteger();
    faults.add(
        bench.files.hang(
            (operation, path) ->
                path.getFileName().toString().endsWith(".log") && reads.incrementAndGet() == 1));
    executor.execute(() -> readAnyhow(tier, segment));
    soon().until(() -> TierBench.stats(tier).stuckThreads() > 0);
    soon().until(() -> TierBench.isRead(tier, segment));
    Path mark = bench.directory("a").resolve("locks/mover.mark");
    Path unused = Files.writeString(mark, "another's");
    soon().until(() -> !Files.readString(mark).equals("another's"));
    soon().until(() -> TierBench.stats(tier).migration().isPresent());
    assertThat(bench.files.hanging()).isEqualTo(1);
    assertThat(TierBench.stats(tier).stuckThreads()).isPositive();
  }

  /** Each broker evicts for its own copies, with the lock or without. */
  @Test
  void anEvictionForACopyThatHangsKeepsNoLockOfTheMover() throws Exception {
    bench.patience = Duration.ofMillis(200);
    bench.threshold = 0;
    bench.level("ssd", 150_000, "a").level("hdd", 1 << 30, "c");
    RemoteTier tier = bench.open();
    String first = bench.copied(tier).key().id();
    soon().until(() -> bench.logs("a") == 1 && bench.logs("c") == 1);
    soon().until(() -> bench.store().inMotion.isEmpty());
    hangEvicting("c", first);
    Future<SegmentInfo> second = executor.submit(() -> bench.copied(tier));
    soon().until(() -> bench.files.hanging() == 1);
    Path mark = bench.directory("a").resolve("locks/mover.mark");
    Path unused = Files.writeString(mark, "another's");
    soon().until(() -> !Files.readString(mark).equals("another's"));
    assertThat(bench.files.hanging()).isEqualTo(1);
    assertThat(second.isDone()).isFalse();
  }

  /** Has the thread hang that reads a segment's lower copy before the upper one goes. */
  private void hangEvicting(String directory, String id) {
    faults.add(
        bench.files.hang(
            (operation, path) ->
                isIn(directory, path)
                    && path.toString().contains(id)
                    && path.toString().endsWith(".log")
                    && Thread.currentThread().getName().startsWith("strata-remote-write")));
  }

  /** The old file system never answers, and another one is mounted in its place. */
  @Test
  void aDirectoryWhoseQuestionsHangForEverComesBack() throws Exception {
    bench.patience = Duration.ofMillis(100);
    bench.level("ssd", 1 << 30, "a");
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.copied(tier);
    AtomicInteger asked = new AtomicInteger();
    faults.add(
        bench.files.hang(
            (operation, path) ->
                path.endsWith("strata-store.json") && asked.incrementAndGet() <= 6));
    soon().until(() -> TierBench.stats(tier).levels().get(0).unavailableDirectories() == 1);
    soon().until(() -> TierBench.isRead(tier, segment));
    assertThat(bench.files.hanging()).isEqualTo(6);
    soon().during(Duration.ofSeconds(2)).until(() -> TierBench.isRead(tier, segment));
  }

  /** What hangs for ever in the old file system is the visit that lists the directory. */
  @Test
  @Tag("long")
  void aDirectoryIsListedThoughAVisitHangsInTheMountThatWasReplaced() throws Exception {
    AtomicLong later = new AtomicLong();
    bench.nanoTime = () -> System.nanoTime() + later.get();
    bench.level("ssd", 1 << 30, "a");
    RemoteTier tier = bench.open();
    SegmentInfo before = bench.copied(tier);
    SegmentStore store = bench.store();
    AtomicBoolean replaced = new AtomicBoolean();
    // By then it has read which partitions there are.
    Runnable listingEnds =
        bench.files.hang(
            (operation, path) ->
                !replaced.get()
                    && operation == Operation.LIST
                    && isIn("a/topics", path)
                    && path.endsWith("" + before.key().partition()));
    faults.add(listingEnds);
    soon().until(() -> bench.files.hanging() == 1);
    replaced.set(true);
    bench.broker = 2;
    RemoteTier other = bench.open();
    SegmentInfo added = bench.copied(other);
    assertThat(isKnown(store, added)).isFalse();
    later.set(TimeUnit.MINUTES.toNanos(11));
    soon().until(() -> isKnown(store, added));
    soon().until(() -> TierBench.stats(tier).levels().get(0).unavailableDirectories() == 0);
    assertThat(bench.files.hanging()).isEqualTo(1);
    listingEnds.run();
    soon().during(Duration.ofSeconds(1)).until(() -> isKnown(store, added));
    assertThat(isKnown(store, before)).isTrue();
  }

  /** It waits for the first listing only for a while after the start, and not each for itself. */
  @Test
  void aFirstListingThatHangsDelaysNoCopyForLong() throws Exception {
    AtomicLong later = new AtomicLong();
    bench.nanoTime = () -> System.nanoTime() + later.get();
    bench.level("ssd", 1 << 30, "a");
    RemoteTier before = bench.open();
    SegmentInfo unused = bench.copied(before);
    before.close();
    faults.add(
        bench.files.hang(
            (operation, path) -> operation == Operation.LIST && isIn("a/topics", path)));
    RemoteTier tier = bench.open();
    soon().until(() -> bench.files.hanging() == 1);
    later.set(TimeUnit.SECONDS.toNanos(31));
    Future<SegmentInfo> copied = executor.submit(() -> bench.copied(tier));
    assertThat(copied.get(20, TimeUnit.SECONDS)).isNotNull();
    assertThat(bench.logs("a")).isEqualTo(2);
  }

  /** Each round waits ten seconds for the visits. */
  @Tag("long")
  @Test
  void visitsThatHangAreReportedAndBounded() throws Exception {
    AtomicLong later = new AtomicLong();
    bench.nanoTime = () -> System.nanoTime() + later.get();
    bench.level("ssd", 1 << 30, "a");
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.copied(tier);
    faults.add(
        bench.files.hang(
            (operation, path) -> operation == Operation.LIST && isIn("a/topics", path)));
    for (int visits = 1; visits <= 4; visits++) {
      int expected = visits;
      soon().until(() -> bench.files.hanging() == expected);
      assertThat(TierBench.isRead(tier, segment)).isTrue();
      later.addAndGet(TimeUnit.MINUTES.toNanos(11));
    }
    soon().until(() -> TierBench.stats(tier).levels().get(0).unavailableDirectories() == 1);
    soon().during(Duration.ofSeconds(1)).until(() -> bench.files.hanging() == 4);
  }

  private static boolean isKnown(SegmentStore store, SegmentInfo segment) {
    return store.known.entries().stream().anyMatch(known -> known.key().equals(segment.key()));
  }

  /** A directory that was not there does not count as scrubbed for a week. */
  @Test
  void aDirectoryThatWasAwayIsScrubbedWhenItIsBack() throws Exception {
    bench.scrub = Duration.ofHours(3);
    bench.level("ssd", 1 << 30, "a").level("hdd", 1 << 30, "c");
    RemoteTier tier = bench.open();
    for (String directory : List.of("a", "c")) {
      Path noted = bench.directory(directory).resolve("locks/last-scrub");
      soon().until(() -> Files.exists(noted));
    }
    Runnable over = bench.files.fail("Input/output error", (operation, path) -> isIn("a", path));
    faults.add(over);
    soon().until(() -> TierBench.stats(tier).levels().get(0).unavailableDirectories() == 1);
    bench.aheadMillis.set(Duration.ofHours(4).toMillis());
    soon().until(() -> TierBench.stats(tier).scrub().rounds().sum() == 1);
    over.run();
    soon().until(() -> TierBench.stats(tier).scrub().rounds().sum() == 2);
  }

  /** A read of one file hangs, and the directory answers, to the listings too. */
  @Test
  void aScrubThatHangsLeavesTheOtherDirectoriesAndIsNotBegunAgain() throws Exception {
    AtomicLong later = new AtomicLong();
    bench.nanoTime = () -> System.nanoTime() + later.get();
    bench.patience = Duration.ofMillis(100);
    bench.scrub = Duration.ofHours(3);
    bench.threshold = 0;
    bench.level("ssd", 1 << 30, "a").level("hdd", 1 << 30, "c");
    RemoteTier tier = bench.open();
    SegmentInfo unused = bench.copied(tier);
    soon().until(() -> bench.logs("a") == 1 && bench.logs("c") == 1);
    awaitScrubDates("a", "c");
    Runnable over =
        bench.files.hang(
            (operation, path) ->
                isIn("a", path)
                    && path.toString().endsWith(".log")
                    && Thread.currentThread().getName().startsWith("strata-remote-write"));
    faults.add(over);
    bench.aheadMillis.set(Duration.ofHours(4).toMillis());
    soon().until(() -> bench.files.hanging() == 1);
    assertThat(TierBench.stats(tier).scrub().rounds().sum()).isZero();

    later.set(TimeUnit.MINUTES.toNanos(11));
    soon().until(() -> TierBench.stats(tier).scrub().rounds().sum() == 1);
    assertThat(TierBench.stats(tier).scrub().lastEndMillis().get()).as("all were read").isEmpty();
    bench.aheadMillis.set(Duration.ofHours(8).toMillis());
    soon().until(() -> TierBench.stats(tier).scrub().rounds().sum() == 2);
    assertThat(bench.files.hanging()).isEqualTo(1);
    assertThat(TierBench.stats(tier).stuckThreads()).isEqualTo(1);
    assertThat(TierBench.stats(tier).scrub().corruptObjects().sum()).isZero();

    over.run();
    soon().until(() -> TierBench.stats(tier).scrub().rounds().sum() == 3);
    assertThat(TierBench.stats(tier).scrub().corruptObjects().sum()).isZero();
    soon().until(() -> TierBench.stats(tier).stuckThreads() == 0);
  }

  /** A scrub may take hours; here it stays in a file of another segment. */
  @Test
  void aCopyIsRepairedWhileAScrubIsUnderWay() throws Exception {
    bench.scrub = Duration.ofHours(3);
    bench.threshold = 0;
    bench.level("ssd", 1 << 30, "a").level("hdd", 1 << 30, "c");
    RemoteTier tier = bench.open();
    SegmentInfo damaged = bench.copied(tier);
    String scrubbed = bench.copied(tier).key().id();
    soon().until(() -> bench.logs("a") == 2 && bench.logs("c") == 2);
    awaitScrubDates("a", "c");
    faults.add(
        bench.files.hang(
            (operation, path) ->
                isIn("c", path)
                    && path.toString().contains(scrubbed)
                    && path.toString().endsWith(".log")
                    && Thread.currentThread().getName().startsWith("strata-remote-write")));
    bench.aheadMillis.set(Duration.ofHours(4).toMillis());
    soon().until(() -> bench.files.hanging() == 1);

    bench.store().lookup.damaged(bench.store().directories().get(0), damaged.key(), "by the test");
    soon().until(() -> TierBench.stats(tier).levels().get(0).damagedCopies() == 0);
    assertThat(TierBench.stats(tier).scrub().rounds().sum()).isZero();
    assertThat(bench.files.hanging()).isEqualTo(1);
  }

  /** A read of one file hangs, and the directories answer. */
  @Test
  void aMoveThatHangsLeavesTheOthersAndIsNotBegunAgain() throws Exception {
    AtomicLong later = new AtomicLong();
    bench.nanoTime = () -> System.nanoTime() + later.get();
    bench.patience = Duration.ofMillis(100);
    bench.level("ssd", 1 << 30, "a").level("hdd", 1 << 30, "c");
    RemoteTier tier = bench.open();
    String first = bench.copied(tier).key().id();
    SegmentInfo unused = bench.copied(tier);
    soon().until(() -> bench.logs("a") == 2);
    Runnable over =
        bench.files.hang(
            (operation, path) ->
                isIn("a", path)
                    && path.toString().contains(first)
                    && path.toString().endsWith(".log")
                    && Thread.currentThread().getName().startsWith("strata-remote-write"));
    faults.add(over);
    bench.threshold = 0;
    tier.reconfigure(bench.settings().live());
    soon().until(() -> bench.files.hanging() == 1);
    assertThat(bench.logs("c")).as("one thread moves, and hangs").isLessThanOrEqualTo(1);

    later.set(TimeUnit.MINUTES.toNanos(11));
    soon().until(() -> bench.logs("c") == 1 && TierBench.stats(tier).stuckThreads() > 0);
    later.set(TimeUnit.MINUTES.toNanos(60));
    soon().until(() -> TierBench.stats(tier).migration().orElseThrow().backingOff() > 0);
    assertThat(bench.files.hanging()).isEqualTo(1);

    over.run();
    soon().until(() -> bench.logs("c") == 2);
    soon().until(() -> TierBench.stats(tier).stuckThreads() == 0);
  }

  /** The segment is in both: the thread of one directory waits for that of the other. */
  @Test
  void anEvictionThatHangsIsNotBegunAgain() throws Exception {
    AtomicLong later = new AtomicLong();
    bench.nanoTime = () -> System.nanoTime() + later.get();
    bench.patience = Duration.ofMillis(100);
    bench.threshold = 0;
    bench.level("ssd", 150_000, "a").level("hdd", 1 << 30, "c");
    RemoteTier tier = bench.open();
    String first = bench.copied(tier).key().id();
    soon().until(() -> bench.logs("a") == 1 && bench.logs("c") == 1);
    soon().until(() -> bench.store().inMotion.isEmpty());
    hangEvicting("c", first);
    Future<SegmentInfo> second = executor.submit(() -> bench.copied(tier));
    soon().until(() -> bench.files.hanging() == 1);

    later.set(TimeUnit.MINUTES.toNanos(11));
    assertThat(second.get()).isNotNull();
    for (int i = 0; i < 3; i++) {
      SegmentInfo unused = bench.copied(tier);
    }
    assertThat(bench.logs("a")).as("which is full").isEqualTo(1);
    assertThat(bench.files.hanging()).isEqualTo(1);
  }

  /** Each would keep the copy for ten minutes, and one more thread of either directory. */
  @Test
  void noEvictionIsBegunBesideOneThatHangs() throws Exception {
    AtomicLong later = new AtomicLong();
    bench.nanoTime = () -> System.nanoTime() + later.get();
    bench.patience = Duration.ofMillis(100);
    bench.threshold = 0;
    bench.level("ssd", 350_000, "a").level("hdd", 1 << 30, "c");
    RemoteTier tier = bench.open();
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      ids.add(bench.copied(tier).key().id());
    }
    soon().until(() -> bench.logs("a") == 3 && bench.logs("c") == 3);
    soon().until(() -> bench.store().inMotion.isEmpty());
    ids.forEach(id -> hangEvicting("c", id));
    Future<SegmentInfo> copied = executor.submit(() -> bench.copied(tier));
    soon().until(() -> bench.files.hanging() == 1);

    later.set(TimeUnit.MINUTES.toNanos(11));
    assertThat(copied.get(20, TimeUnit.SECONDS)).isNotNull();
    assertThat(executor.submit(() -> bench.copied(tier)).get(20, TimeUnit.SECONDS)).isNotNull();
    assertThat(bench.logs("a")).as("which is full").isEqualTo(3);
    assertThat(bench.files.hanging()).isEqualTo(1);
  }

  /** What hangs is the directory that is to be freed: its neighbour is freed for the next copy. */
  @Test
  void anEvictionThatHangsKeepsNoneFromTheNeighbour() throws Exception {
    AtomicLong later = new AtomicLong();
    bench.nanoTime = () -> System.nanoTime() + later.get();
    bench.patience = Duration.ofMillis(100);
    bench.threshold = 0;
    bench.level("ssd", 150_000, "a", "b").level("hdd", 1 << 30, "c");
    RemoteTier tier = bench.open();
    String first = bench.copied(tier).key().id();
    String hangs = bench.logs("a") == 1 ? "a" : "b";
    String works = hangs.equals("a") ? "b" : "a";
    String second = bench.copied(tier).key().id();
    soon().until(() -> bench.logs(works) == 1 && bench.logs("c") == 2);
    soon().until(() -> bench.store().inMotion.isEmpty());
    faults.add(
        bench.files.hang(
            (operation, path) ->
                isIn(hangs, path)
                    && path.toString().contains(first)
                    && Thread.currentThread().getName().startsWith("strata-remote-write")));
    Future<SegmentInfo> copied = executor.submit(() -> bench.copied(tier));
    soon().until(() -> bench.files.hanging() == 1);

    later.set(TimeUnit.MINUTES.toNanos(11));
    assertThat(copied.get(20, TimeUnit.SECONDS)).isNotNull();
    SegmentInfo next = executor.submit(() -> bench.copied(tier)).get(20, TimeUnit.SECONDS);
    assertThat(log(works).toString()).contains(next.key().id()).doesNotContain(second);
    assertThat(bench.files.hanging()).isEqualTo(1);
  }

  private void awaitScrubDates(String... directories) {
    for (String directory : directories) {
      Path noted = bench.directory(directory).resolve("locks/last-scrub");
      soon().until(() -> Files.exists(noted));
    }
  }

  /** No scrub has run since the start, and no other copy says what the segment is. */
  @Test
  void anOnlyCopyWithADamagedManifestCountsAsDamagedAfterARestart() throws Exception {
    bench.level("ssd", 1 << 30, "a");
    RemoteTier before = bench.open();
    SegmentInfo unused = bench.copied(before);
    before.close();
    Path manifest = ChangingTree.file(bench.directory("a").resolve("topics"), "manifest.json");
    byte[] right = Files.readAllBytes(manifest);
    byte[] wrong = right.clone();
    wrong[wrong.length / 2] ^= 1;
    Path unusedToo = Files.write(manifest, wrong);
    RemoteTier tier = bench.open();
    soon().until(() -> TierBench.stats(tier).damagedSegments() == 1);
    Path unusedAsWell = Files.write(manifest, right);
    soon().until(() -> TierBench.stats(tier).damagedSegments() == 0);
  }

  /** The other broker would not find what is left in a directory that it does not use. */
  @Test
  void nothingIsEvictedForACopyWhileBrokersUseDifferentDirectories() throws Exception {
    bench.threshold = 0;
    bench.level("ssd", 150_000, "a").level("hdd", 1 << 30, "b");
    RemoteTier tier = bench.open();
    SegmentInfo unused = bench.copied(tier);
    soon().until(() -> bench.logs("a") == 1 && bench.logs("b") == 1);
    Path kept = log("a");
    try (TierBench other = new TierBench(top)) {
      other.broker = 2;
      RemoteTier unusedToo = other.level("ssd", 150_000, "a").open();
      soon().until(() -> TierBench.stats(tier).migration().isEmpty());
      SegmentInfo unusedAsWell = bench.copied(tier);
      assertThat(kept).exists();
      assertThat(bench.logs("b")).isEqualTo(2);
    }
  }

  /** The broker's log directories may hang too. */
  @Test
  void aDeletionThatCannotBeNotedEndsAllTheSame() throws Exception {
    Path logs = Files.createDirectories(top.resolve("logs"));
    bench.memory = List.of(bench.files.wrap(logs));
    bench.deleteTimeout = Duration.ofMillis(200);
    bench.level("ssd", 1 << 30, "a");
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.copied(tier);
    faults.add(bench.files.hang((operation, path) -> isIn("a", path) || path.startsWith(logs)));
    Future<Long> deletion = executor.submit(() -> tier.delete("a segment", segment));
    assertThatThrownBy(() -> deletion.get(60, TimeUnit.SECONDS))
        .hasCauseInstanceOf(TimeLimitException.class);
  }

  @Test
  void theScrubRunsWithoutTheFirstDirectory() throws Exception {
    bench.scrub = Duration.ofMillis(100);
    bench.level("ssd", 1 << 30, "a").level("hdd", 1 << 30, "c");
    RemoteTier tier = bench.open();
    soon().until(() -> TierBench.stats(tier).scrub().rounds().sum() > 0);
    faults.add(bench.files.fail("Input/output error", (operation, path) -> isIn("a", path)));
    soon().until(() -> TierBench.stats(tier).levels().get(0).unavailableDirectories() == 1);
    long before = TierBench.stats(tier).scrub().rounds().sum();
    soon().until(() -> TierBench.stats(tier).scrub().rounds().sum() > before + 1);
  }

  /** What cannot be repaired may be much, and is read again each time. */
  @Test
  void theScrubDoesNotWaitForRepairs() throws Exception {
    bench.scrub = Duration.ofMillis(100);
    bench.level("ssd", 1 << 30, "a");
    RemoteTier tier = bench.open();
    SegmentInfo unused = bench.copied(tier);
    damage(log("a"));
    faults.add(
        bench.files.hang(
            (operation, path) ->
                operation == Operation.READ
                    && path.toString().endsWith(".log")
                    && Files.exists(path.resolveSibling("damaged"))));
    soon().until(() -> bench.files.hanging() > 0);
    soon().until(() -> TierBench.stats(tier).scrub().rounds().sum() > 0);
  }

  @Test
  void aScrubThatEndedInTheFutureIsNotTheLastForYears() throws Exception {
    bench.scrub = Duration.ofMillis(100);
    bench.level("ssd", 1 << 30, "a");
    bench.open().close();
    Path noted = bench.directory("a").resolve("locks/last-scrub");
    if (!Files.exists(noted)) {
      Path unused = Files.createFile(noted);
    }
    Path unused =
        Files.setLastModifiedTime(noted, FileTime.from(Instant.now().plus(Duration.ofDays(3650))));
    RemoteTier tier = bench.open();
    soon().until(() -> TierBench.stats(tier).scrub().rounds().sum() > 0);
  }

  @Test
  void damagedCopiesAndDirectoriesThatFailAreCounted() throws Exception {
    bench.level("ssd", 1 << 30, "a");
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.copied(tier);
    assertThat(TierBench.stats(tier).levels().get(0).damagedCopies()).isZero();
    assertThat(TierBench.stats(tier).damagedSegments()).isZero();
    assertThat(TierBench.stats(tier).directories())
        .containsExactly(
            new RemoteStats.DirectoryStats(
                bench.directory("a").toString(), "ssd", true, Optional.empty()));

    damage(log("a"));
    bench.store().lookup.damaged(bench.store().directories().get(0), segment.key(), "by the test");
    soon().until(() -> TierBench.stats(tier).levels().get(0).damagedCopies() == 1);
    assertThat(TierBench.stats(tier).damagedSegments()).isEqualTo(1);

    faults.add(bench.files.fail("Input/output error", (operation, path) -> isIn("a", path)));
    soon().until(() -> !TierBench.stats(tier).directories().get(0).available());
  }

  /** The copy that has it right is there: no scrub has to come first. */
  @Test
  void aCopyThatWasFoundDamagedByAReadIsReplaced() throws Exception {
    bench.level("ssd", 1 << 30, "a").level("hdd", 1 << 30, "b");
    bench.threshold = 0;
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.copied(tier);
    soon().until(() -> bench.logs("a") == 1 && bench.logs("b") == 1);
    soon().until(() -> TierBench.stats(tier).levels().get(1).movingCopies() == 0);
    Path log = log("a");
    damage(log);

    assertThat(TierBench.read(tier, segment)).isEqualTo(TierBench.bytes(segment));

    soon().until(() -> Arrays.equals(Files.readAllBytes(log), TierBench.bytes(segment)));
    soon().until(() -> TierBench.stats(tier).levels().get(0).damagedCopies() == 0);
    assertThat(log.resolveSibling("damaged")).doesNotExist();
    assertThat(TierBench.stats(tier).scrub().rounds().sum()).isZero();
  }

  private Path log(String directory) throws IOException {
    return ChangingTree.file(bench.directory(directory).resolve("topics"), ".log");
  }

  private static void damage(Path log) throws IOException {
    byte[] bytes = Files.readAllBytes(log);
    bytes[70_000] ^= 1;
    Path unused = Files.write(log, bytes);
  }

  @Test
  void aFullDirectoryIsNotCalledReadOnly() throws Exception {
    bench.level("ssd", 1 << 30, "a");
    RemoteTier tier = bench.open();
    Runnable over =
        bench.files.fail(
            "No space left on device",
            (operation, path) -> operation == Operation.WRITE && isIn("a", path));
    faults.add(over);
    soon().until(() -> TierBench.stats(tier).levels().get(0).unavailableDirectories() == 1);
    assertThat(whyNot(tier)).contains("is full").doesNotContain("read only");
    over.run();
    soon().until(() -> TierBench.stats(tier).levels().get(0).unavailableDirectories() == 0);
    assertThat(bench.copied(tier)).isNotNull();
  }

  private String whyNot(RemoteTier tier) throws InterruptedException {
    try {
      SegmentInfo unused = bench.copied(tier);
      return "";
    } catch (IOException e) {
      return String.valueOf(e.getMessage());
    }
  }

  /** No thread can be made for a while. */
  @Test
  void theRoundsGoOnAfterAnError() throws Exception {
    AtomicBoolean none = new AtomicBoolean();
    AtomicInteger refused = new AtomicInteger();
    var system = bench.threads;
    bench.threads =
        task -> {
          if (none.get()) {
            int unused = refused.incrementAndGet();
            throw new OutOfMemoryError("unable to create native thread");
          }
          return system.newThread(task);
        };
    bench.level("ssd", 1 << 30, "a");
    RemoteTier tier = bench.open();
    Path signIn = bench.directory("a").resolve("brokers/1.json");
    soon().until(() -> Files.exists(signIn));
    faults.add(() -> none.set(false));
    none.set(true);
    soon().until(() -> refused.get() > 2);
    none.set(false);
    Files.delete(signIn);
    soon().until(() -> Files.exists(signIn));
    assertThat(bench.copied(tier)).isNotNull();
  }

  @Test
  void movesGoOnThoughTheEngineFoundNoThreadAtFirst() throws Exception {
    AtomicInteger refused = new AtomicInteger();
    var system = bench.threads;
    bench.threads =
        task -> {
          boolean ofTheEngine =
              Stream.of(new Throwable().getStackTrace())
                  .anyMatch(frame -> frame.getClassName().endsWith(".MigrationEngine"));
          if (ofTheEngine && refused.incrementAndGet() <= 2) {
            throw new OutOfMemoryError("unable to create native thread");
          }
          return system.newThread(task);
        };
    bench.threshold = 0;
    bench.level("ssd", 1 << 30, "a").level("hdd", 1 << 30, "b");
    RemoteTier tier = bench.open();
    SegmentInfo unused = bench.copied(tier);
    soon().until(() -> bench.logs("b") == 1);
    assertThat(refused.get()).isGreaterThan(2);
  }

  /** By a clock that stands still: a round that fails is not followed by another one at once. */
  @Test
  @Tag("long")
  void theRoundsWaitAfterAnError() throws Exception {
    AtomicLong nanos = new AtomicLong();
    AtomicBoolean none = new AtomicBoolean();
    AtomicInteger refused = new AtomicInteger();
    bench.nanoTime = nanos::get;
    bench.known = Duration.ofHours(1);
    var system = bench.threads;
    List<Thread> rounds = new CopyOnWriteArrayList<>();
    bench.threads =
        task -> {
          if (none.get()) {
            rounds.add(Thread.currentThread());
            int unused = refused.incrementAndGet();
            throw new OutOfMemoryError("unable to create native thread");
          }
          return system.newThread(task);
        };
    bench.level("ssd", 1 << 30, "a");
    RemoteTier tier = bench.open();
    faults.add(() -> none.set(false));
    Path signIn = bench.directory("a").resolve("brokers/1.json");
    soon().until(() -> Files.exists(signIn));
    assertThat(bench.copied(tier)).isNotNull();
    none.set(true);
    for (int round = 1; round <= 3; round++) {
      long unused = nanos.addAndGet(bench.known.toNanos() + 1);
      int failed = round;
      soon().until(() -> refused.get() == failed);
      soon().until(() -> isWaiting(rounds.get(0)));
      assertThat(refused.get()).isEqualTo(round);
    }
  }

  private static boolean isWaiting(Thread rounds) {
    return Stream.of(rounds.getStackTrace())
        .anyMatch(frame -> frame.getMethodName().equals("awaitNextRound"));
  }
}
