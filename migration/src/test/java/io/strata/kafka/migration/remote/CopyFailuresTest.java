package io.strata.kafka.migration.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.migration.remote.faults.FaultyFileSystem.Operation;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A copy fails in a directory that has space and answers. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CopyFailuresTest {

  @TempDir private Path top = Path.of("");
  private TierBench bench = new TierBench(Path.of(""));
  private final AtomicLong later = new AtomicLong();
  private final List<Runnable> faults = new ArrayList<>();

  @BeforeEach
  void bench() throws IOException {
    bench = new TierBench(top);
    bench.nanoTime = () -> System.nanoTime() + later.get();
  }

  @AfterEach
  void close() {
    faults.forEach(Runnable::run);
    bench.close();
  }

  /** Fails all writes below a directory that a test matches; the sign-in goes on. */
  private Runnable fail(String directory, String reason, Predicate<Path> hits) {
    Path real = bench.directory(directory);
    Runnable over =
        bench.files.fail(
            reason,
            (operation, path) ->
                operation == Operation.WRITE && path.startsWith(real) && hits.test(path));
    faults.add(over);
    return over;
  }

  private static boolean isOfASegment(Path path) {
    return path.toString().contains("/staging/") || path.toString().contains("/topics/");
  }

  private static ConditionFactory soon() {
    return Awaitility.await().atMost(Duration.ofSeconds(50));
  }

  private static int unavailable(RemoteTier tier, int level) {
    return TierBench.stats(tier).levels().get(level).unavailableDirectories();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "No space left on device",
        "Disk quota exceeded",
        "Permission denied",
        "Read-only file system",
        "Input/output error"
      })
  void aCopyThatFailsInADirectoryGoesToTheNextLevelAtOnce(String reason) throws Exception {
    bench.level("ssd", 1 << 30, "a").level("hdd", 1 << 30, "b");
    RemoteTier tier = bench.open();
    AtomicInteger attempts = new AtomicInteger();
    Runnable over =
        fail(
            "a",
            reason,
            path -> {
              boolean log = path.toString().contains("staging") && path.toString().endsWith(".log");
              attempts.addAndGet(log ? 1 : 0);
              return log;
            });

    SegmentInfo first = bench.copied(tier);
    SegmentInfo second = bench.copied(tier);

    assertThat(bench.logs("b")).isEqualTo(2);
    assertThat(attempts).as("the directory backs off").hasValue(1);
    assertThat(TierBench.isRead(tier, first)).isTrue();
    assertThat(TierBench.isRead(tier, second)).isTrue();
    assertThat(unavailable(tier, 0)).isEqualTo(1);
    assertThat(TierBench.stats(tier).directories().get(0).copiesFail().orElseThrow())
        .contains(first.key().toString(), reason);
    assertThat(TierBench.stats(tier).directories().get(1).copiesFail()).isEmpty();

    later.addAndGet(TimeUnit.MINUTES.toNanos(1));
    SegmentInfo unused = bench.copied(tier);
    assertThat(attempts).as("tried again after a while").hasValue(2);
    assertThat(bench.logs("b")).isEqualTo(3);

    over.run();
    later.addAndGet(TimeUnit.MINUTES.toNanos(2));
    SegmentInfo unusedToo = bench.copied(tier);
    assertThat(bench.logs("a")).isEqualTo(1);
    assertThat(unavailable(tier, 0)).isZero();
  }

  @Test
  void aCopyThatFailsInADirectoryGoesToAnotherOneOfTheLevel() throws Exception {
    bench.level("ssd", 1 << 30, "a", "b").level("hdd", 1 << 30, "c");
    RemoteTier tier = bench.open();
    faults.add(fail("a", "Disk quota exceeded", CopyFailuresTest::isOfASegment));
    for (int i = 0; i < 4; i++) {
      SegmentInfo unused = bench.copied(tier);
    }
    assertThat(bench.logs("b")).isEqualTo(4);
  }

  /** Another topic's files may be another user's. */
  @Test
  void theOnlyDirectoryStillTakesWhatDoesNotFailThere() throws Exception {
    bench.level("ssd", 1 << 30, "a");
    RemoteTier tier = bench.open();
    SegmentInfo fails = bench.segment();
    faults.add(fail("a", "Permission denied", path -> path.toString().contains(fails.key().id())));
    assertThatThrownBy(() -> bench.copy(tier, fails))
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining("Permission denied");
    SegmentInfo other = bench.copied(tier);
    assertThat(TierBench.isRead(tier, other)).isTrue();
  }

  @Test
  void allFailuresAreNamedWhenNoDirectoryTakesACopy() throws Exception {
    bench.level("ssd", 1 << 30, "a").level("hdd", 1 << 30, "b");
    RemoteTier tier = bench.open();
    faults.add(fail("a", "Input/output error", CopyFailuresTest::isOfASegment));
    faults.add(fail("b", "Permission denied", CopyFailuresTest::isOfASegment));
    assertThatThrownBy(() -> bench.copied(tier))
        .hasMessageContaining("Permission denied")
        .satisfies(
            e -> assertThat(e.getSuppressed()[0]).hasMessageContaining("Input/output error"));
  }

  /** As btrfs does where a quota is used up: nothing can be made or renamed, all can be removed. */
  @Test
  void aDirectoryThatHasNoSpaceForARenameGivesSpaceBack() throws Exception {
    bench.level("ssd", 1 << 30, "a");
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.copied(tier);
    Path left = bench.directory("a").resolve("staging/1-dead/segment");
    Path unused = Files.createDirectories(left);
    faults.add(
        fail("a", "Disk quota exceeded", path -> path.toString().matches(".*/(trash|brokers)/.*")));
    faults.add(fail("a", "Disk quota exceeded", path -> path.endsWith("going")));

    long deleted = tier.delete("deleting", segment);

    assertThat(deleted).isPositive();
    assertThat(bench.logs("a")).isZero();
    assertThat(bench.directory("a").resolve("topics")).isEmptyDirectory();
    assertThat(TierBench.isRead(tier, segment)).isFalse();
    soon().until(() -> Files.notExists(left.getParent()));
  }

  /** The log's directory is the broker's, not the store's. */
  @Test
  void aLocalFileThatCannotBeReadIsNoFaultOfTheDirectory() throws Exception {
    bench.level("ssd", 1 << 30, "a").level("hdd", 1 << 30, "b");
    RemoteTier tier = bench.open();
    faults.add(
        bench.files.fail(
            "Input/output error",
            (operation, path) ->
                operation == Operation.READ
                    && path.toString().contains("/orders-")
                    && path.toString().endsWith(".log")));
    assertThatThrownBy(() -> bench.copied(tier)).hasMessageContaining("Input/output error");
    assertThat(unavailable(tier, 0)).isZero();
    assertThat(unavailable(tier, 1)).isZero();
    assertThat(bench.logs("a") + bench.logs("b")).isZero();
  }

  /** A move chooses a directory in the same way. */
  @Test
  void aMoveGoesPastADirectoryInWhichCopiesFail() throws Exception {
    bench.threshold = 0;
    bench.level("ssd", 1 << 30, "a").level("hdd", 1 << 30, "b", "c");
    RemoteTier tier = bench.open();
    faults.add(fail("b", "Disk quota exceeded", CopyFailuresTest::isOfASegment));
    for (int i = 0; i < 3; i++) {
      SegmentInfo unused = bench.copied(tier);
    }
    soon()
        .until(
            () -> {
              later.addAndGet(TimeUnit.SECONDS.toNanos(5));
              return bench.logs("c") == 3;
            });
  }

  /** The small files of a disk that hangs answer from the page cache. */
  @Test
  void aCopyLeavesADirectoryInWhichItHangsAndTheNextOnesGoPastIt() throws Exception {
    bench.patience = Duration.ofMillis(200);
    bench.known = Duration.ofHours(1);
    bench.level("ssd", 1 << 30, "a").level("hdd", 1 << 30, "b");
    RemoteTier tier = bench.open();
    Path staging = bench.directory("a").resolve("staging");
    Runnable over =
        bench.files.hang(
            (operation, path) ->
                operation == Operation.WRITE
                    && path.startsWith(staging)
                    && path.toString().endsWith(".log"));
    faults.add(over);
    long begun = System.nanoTime();
    SegmentInfo first = bench.copied(tier);
    assertThat(System.nanoTime() - begun).isLessThan(TimeUnit.SECONDS.toNanos(10));
    begun = System.nanoTime();
    SegmentInfo second = bench.copied(tier);
    assertThat(System.nanoTime() - begun)
        .as("at once")
        .isLessThan(TimeUnit.MILLISECONDS.toNanos(500));
    assertThat(bench.logs("b")).isEqualTo(2);
    assertThat(unavailable(tier, 0)).isEqualTo(1);
    over.run();
    soon().until(() -> ChangingTree.files(staging).isEmpty());
    assertThat(bench.logs("a")).isZero();
    assertThat(TierBench.isRead(tier, first) && TierBench.isRead(tier, second)).isTrue();
  }

  /**
   * Has the thread hang that has published a segment's copy in a directory, before it is durable.
   */
  private Runnable hangPublished(String directory, SegmentInfo segment) {
    Path published = published(directory, segment);
    Runnable over =
        bench.files.hang(
            (operation, path) ->
                path.equals(published.getParent())
                    && Files.exists(published)
                    && Thread.currentThread().getName().startsWith("strata-remote-write"));
    faults.add(over);
    return over;
  }

  private Path published(String directory, SegmentInfo segment) {
    return StoreNames.segment(bench.directory(directory), segment.key());
  }

  /** Another broker may have evicted the other copy for the one that it has found there. */
  @Test
  void aCopyThatWasPublishedLateStaysWhenAnotherOneWasMade() throws Exception {
    bench.patience = Duration.ofMillis(200);
    bench.known = Duration.ofHours(1);
    bench.level("ssd", 1 << 30, "a").level("hdd", 1 << 30, "b");
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.segment();
    Runnable over = hangPublished("a", segment);
    bench.copy(tier, segment);
    assertThat(bench.logs("a")).isEqualTo(1);
    assertThat(bench.logs("b")).isEqualTo(1);
    StoreDirectory second = bench.store().directories().get(1);
    bench.store().publishing.discard(second, segment.key());

    over.run();
    soon().until(() -> bench.files.hanging() == 0 && TierBench.stats(tier).stuckThreads() == 0);
    soon().during(Duration.ofSeconds(1)).until(() -> bench.logs("a") == 1);
    assertThat(published("a", segment).resolve(StoreNames.GOING)).doesNotExist();
    assertThat(TierBench.isRead(tier, segment)).isTrue();
  }

  /** Kafka makes it again, under another id. */
  @Test
  void aCopyThatWasPublishedLateIsTakenBackWhenNoneWasMade() throws Exception {
    bench.patience = Duration.ofMillis(200);
    bench.known = Duration.ofHours(1);
    bench.level("ssd", 1 << 30, "a");
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.segment();
    Runnable over = hangPublished("a", segment);
    Thread copying = new Thread(() -> copyAnyhow(tier, segment));
    copying.start();
    soon().until(() -> bench.files.hanging() == 1);
    copying.interrupt();
    copying.join();
    over.run();
    soon().until(() -> bench.logs("a") == 0);
  }

  /** It is no reason for an eviction to remove the other one. */
  @Test
  void aCopyThatIsBeingTakenBackIsMarked() throws Exception {
    bench.patience = Duration.ofMillis(200);
    bench.known = Duration.ofHours(1);
    bench.level("ssd", 1 << 30, "a").level("hdd", 1 << 30, "b");
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.segment();
    Runnable published = hangPublished("a", segment);
    Path first = bench.directory("a");
    Path second = bench.directory("b");
    Runnable removed =
        bench.files.hang(
            (operation, path) ->
                operation == Operation.WRITE && path.startsWith(first.resolve("trash")));
    faults.add(removed);
    Runnable written =
        bench.files.hang(
            (operation, path) ->
                operation == Operation.WRITE && path.startsWith(second.resolve("staging")));
    faults.add(written);
    FutureTask<Boolean> copied =
        new FutureTask<>(
            () -> {
              bench.copy(tier, segment);
              return true;
            });
    new Thread(copied).start();
    soon().until(() -> bench.files.hanging() == 2);
    published.run();
    Path copy = published("a", segment);
    soon().until(() -> Files.exists(copy.resolve(StoreNames.GOING)) && bench.files.hanging() == 2);
    written.run();
    assertThat(copied.get()).isTrue();
    assertThat(bench.logs("b")).isEqualTo(1);
    assertThat(copy.resolve(StoreNames.GOING)).exists();
    removed.run();
    soon().until(() -> bench.logs("a") == 0);
    assertThat(TierBench.isRead(tier, segment)).isTrue();
  }

  /** The copy elsewhere has been deleted since: no deletion would find this one. */
  @Test
  void aCopyThatNobodyWaitsForIsNotPublished() throws Exception {
    bench.patience = Duration.ofMillis(200);
    bench.known = Duration.ofHours(1);
    bench.level("ssd", 1 << 30, "a").level("hdd", 1 << 30, "b");
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.segment();
    Path place = published("a", segment);
    Runnable over =
        bench.files.hang(
            (operation, path) -> operation == Operation.READ && path.equals(place) && isWriting());
    faults.add(over);
    bench.copy(tier, segment);
    assertThat(bench.files.hanging()).isEqualTo(1);
    assertThat(bench.logs("b")).isEqualTo(1);
    assertThat(bench.store().delete(segment)).hasSize(1);

    over.run();
    soon().until(() -> bench.files.hanging() == 0 && TierBench.stats(tier).stuckThreads() == 0);
    assertThat(bench.logs("a") + bench.logs("b")).isZero();
    assertThat(ChangingTree.files(bench.directory("a").resolve("staging"))).isEmpty();
  }

  private static boolean isWriting() {
    return Thread.currentThread().getName().startsWith("strata-remote-write");
  }

  /** It hangs before it goes, for so long that its mark counts no more, and another one is made. */
  @Test
  void aCopyThatIsBeingTakenBackStaysWhenAnotherOneWasMade() throws Exception {
    bench.patience = Duration.ofMillis(200);
    bench.known = Duration.ofHours(1);
    bench.level("ssd", 1 << 30, "a").level("hdd", 1 << 30, "b");
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.segment();
    Runnable published = hangPublished("a", segment);
    Path mark = published("a", segment).resolve(StoreNames.GOING);
    Path identity = bench.directory("a").resolve(StoreNames.IDENTITY);
    Runnable removed =
        bench.files.hang(
            (operation, path) -> path.equals(identity) && Files.exists(mark) && isWriting());
    faults.add(removed);
    Path second = bench.directory("b");
    Runnable written =
        bench.files.hang(
            (operation, path) ->
                operation == Operation.WRITE && path.startsWith(second.resolve("staging")));
    faults.add(written);
    FutureTask<Boolean> copied =
        new FutureTask<>(
            () -> {
              bench.copy(tier, segment);
              return true;
            });
    new Thread(copied).start();
    soon().until(() -> bench.files.hanging() == 2);
    published.run();
    soon().until(() -> Files.exists(mark) && bench.files.hanging() == 2);
    written.run();
    assertThat(copied.get()).isTrue();
    assertThat(bench.logs("b")).isEqualTo(1);

    removed.run();
    soon().until(() -> bench.files.hanging() == 0 && TierBench.stats(tier).stuckThreads() == 0);
    assertThat(bench.logs("a")).isEqualTo(1);
    assertThat(mark).doesNotExist();
  }

  /** The log directory hangs in which it is noted that the first one is to be deleted. */
  @Test
  void aCopyIsTakenBackWhileTheDeletionOfAnotherOneIsNoted() throws Exception {
    bench.patience = Duration.ofMillis(200);
    bench.known = Duration.ofHours(1);
    Path logs = Files.createDirectories(bench.directory("logs"));
    bench.memory = List.of(bench.files.wrap(logs));
    bench.level("ssd", 1 << 30, "a").level("hdd", 1 << 30, "b");
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.segment();
    Runnable first = hangPublished("a", segment);
    Runnable second = hangPublished("b", segment);
    Thread copying = new Thread(() -> copyAnyhow(tier, segment));
    copying.start();
    soon().until(() -> bench.files.hanging() == 2);
    copying.interrupt();
    copying.join();
    Path trash = bench.directory("a").resolve("trash");
    faults.add(
        bench.files.fail(
            "Input/output error",
            (operation, path) -> operation == Operation.WRITE && path.startsWith(trash)));
    AtomicInteger noting = new AtomicInteger();
    faults.add(
        bench.files.hang(
            (operation, path) -> path.startsWith(logs) && noting.incrementAndGet() > 0));
    first.run();
    soon().until(() -> noting.get() > 0);
    second.run();
    soon().until(() -> bench.logs("b") == 0);
    assertThat(bench.logs("a")).isEqualTo(1);
    assertThat(bench.files.hanging()).isEqualTo(1);
  }

  private void copyAnyhow(RemoteTier tier, SegmentInfo segment) {
    try {
      bench.copy(tier, segment);
    } catch (IOException | InterruptedException e) {
      return; // It was given up.
    }
  }

  /** It may be slow, and not hang. */
  @Test
  void aCopyThatHasNoOtherPlaceWaitsForASlowDisk() throws Exception {
    bench.patience = Duration.ofMillis(100);
    bench.level("ssd", 1 << 30, "a").level("hdd", 50_000, "b");
    RemoteTier tier = bench.open();
    Runnable over =
        bench.files.hang(
            (operation, path) ->
                operation == Operation.WRITE && path.toString().contains("/a/staging/"));
    faults.add(over);
    Thread ends =
        new Thread(
            () -> {
              try {
                Thread.sleep(1500);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
              over.run();
            });
    ends.start();
    SegmentInfo segment = bench.copied(tier);
    ends.join();
    assertThat(bench.logs("a")).isEqualTo(1);
    assertThat(TierBench.isRead(tier, segment)).isTrue();
    assertThat(unavailable(tier, 0)).as("a copy was made").isZero();
  }
}
