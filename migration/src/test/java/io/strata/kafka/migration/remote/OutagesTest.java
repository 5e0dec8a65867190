package io.strata.kafka.migration.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.remote.RemoteEnvironment.KafkaReads;
import io.strata.kafka.migration.remote.store.LogReads.IndexMissingException;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.layout.ChunkChecksums.CorruptChunkException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Reads while the store is away, by a clock that runs as fast as a test wants. */
class OutagesTest {

  private final AtomicLong ahead = new AtomicLong();
  private final List<String> log = new CopyOnWriteArrayList<>();
  private final AtomicBoolean isAway = new AtomicBoolean(true);
  private final AtomicInteger attempts = new AtomicInteger();
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean withoutThreads;
  private final Outages outages =
      new Outages(
          new KafkaReads(Duration.ofHours(1), 4),
          new EngineEnvironment(EngineEnvironment.system().clock(), this::now, this::thread),
          log::add);

  private Thread thread(Runnable task) {
    if (withoutThreads) {
      throw new OutOfMemoryError("unable to create native thread");
    }
    return EngineEnvironment.system().threads().newThread(task);
  }

  @AfterEach
  void close() throws InterruptedException {
    outages.close();
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private long now() {
    return System.nanoTime() + ahead.get();
  }

  private LongSupplier fromNow() {
    long begun = now();
    return () -> now() - begun;
  }

  private int attempt() throws IOException {
    int unused = attempts.incrementAndGet();
    if (isAway.get()) {
      throw new StoreUnavailableException("/mnt: is it mounted?");
    }
    return 1;
  }

  private int read(boolean isIndex) throws IOException, InterruptedException {
    return outages.read(fromNow(), isIndex, this::attempt);
  }

  private Thread waiting() {
    Thread thread =
        new Thread(
            () -> {
              try {
                int unused = read(false);
              } catch (IOException | InterruptedException e) {
                // It waited in vain.
              }
            });
    thread.start();
    threads.add(thread);
    await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
    return thread;
  }

  @Test
  void halfOfTheThreadsWaitWhileTheStoreServesOthers() {
    Thread first = waiting();
    outages.served();
    Thread second = waiting();
    long begun = System.nanoTime();
    assertThatThrownBy(() -> read(false)).isInstanceOf(StoreUnavailableException.class);
    assertThat(System.nanoTime() - begun).isLessThan(TimeUnit.SECONDS.toNanos(1));
    // When nothing has been served for a while, all threads may wait.
    ahead.addAndGet(TimeUnit.SECONDS.toNanos(11));
    Thread third = waiting();
    assertThat(List.of(first, second, third)).allMatch(Thread::isAlive);
  }

  @Test
  void aReadForWhichNoReporterStartsDoesNotCountAsWaiting() {
    outages.served();
    withoutThreads = true;
    for (int i = 0; i < 4; i++) {
      assertThatThrownBy(() -> read(false)).isInstanceOf(OutOfMemoryError.class);
    }
    withoutThreads = false;
    outages.served();
    assertThat(waiting().isAlive()).isTrue();
    await().until(() -> !log.isEmpty());
  }

  /** A try looks at each directory, and throws: all that wait cost as much as one. */
  @Test
  void oneTriesForAllThatWaitAndAllAreServedAtOnce() throws Exception {
    for (int i = 0; i < 20; i++) {
      Thread unused = waiting();
    }
    int before = attempts.get();
    Thread.sleep(1000);
    assertThat(attempts.get() - before).isBetween(1, 20);
    isAway.set(false);
    long begun = System.nanoTime();
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(System.nanoTime() - begun).isLessThan(TimeUnit.SECONDS.toNanos(1));
  }

  @Test
  void anInterruptOrTheEndOfTheBrokerEndsTheWait() throws Exception {
    Thread interrupted = waiting();
    interrupted.interrupt();
    interrupted.join();
    Thread last = waiting();
    outages.close();
    last.join();
  }

  /** Kafka reads an index under a lock: those that it has made wait have waited. */
  @Test
  void theReadOfAnIndexThatFollowsAnotherDoesNotWaitAgain() throws Exception {
    Thread first =
        new Thread(
            () -> {
              try {
                int unused = read(true);
              } catch (IOException | InterruptedException e) {
                // As expected.
              }
            });
    first.start();
    await().until(() -> first.getState() == Thread.State.TIMED_WAITING);
    first.interrupt();
    first.join();
    assertThatThrownBy(() -> read(true)).isInstanceOf(StoreUnavailableException.class);
  }

  @Test
  void whatIsWrongWithOneCopyIsDelayedOnly() throws Exception {
    AtomicLong tries = new AtomicLong();
    try (Outages brief =
        new Outages(
            new KafkaReads(Duration.ofMillis(600), 4), EngineEnvironment.system(), log::add)) {
      long begun = System.nanoTime();
      LongSupplier took = () -> System.nanoTime() - begun;
      assertThatThrownBy(
              () ->
                  brief.read(
                      took,
                      false,
                      () -> {
                        long unused = tries.incrementAndGet();
                        throw new CorruptChunkException("wrong");
                      }))
          .isInstanceOf(CorruptChunkException.class);
      assertThat(took.getAsLong()).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(190));
      assertThat(tries).hasValue(1);
      assertThatThrownBy(
              () ->
                  outages.read(
                      fromNow(),
                      true,
                      () -> {
                        throw new IndexMissingException("normal");
                      }))
          .isInstanceOf(IndexMissingException.class);
    }
    assertThat(log).isEmpty();
  }

  @Test
  void anOutageIsReportedWhenItBeginsEachMinuteAndWhenItEnds() {
    Thread first = waiting();
    Thread second = waiting();
    await().until(() -> log.size() == 1);
    assertThat(log.get(0)).contains("/mnt: is it mounted?");
    ahead.addAndGet(TimeUnit.SECONDS.toNanos(61));
    await().until(() -> log.size() == 2);
    assertThat(log.get(1)).contains("for 6", "0 waited in vain");
    isAway.set(false);
    await().until(() -> log.size() == 3);
    assertThat(log.get(2)).contains("served again after 6", "2 were served after a wait");
    assertThat(List.of(first, second)).noneMatch(Thread::isAlive);
    isAway.set(true);
    Thread third = waiting();
    await().until(() -> log.size() == 4);
    third.interrupt();
    ahead.addAndGet(TimeUnit.SECONDS.toNanos(20));
    await().until(() -> log.size() == 5);
    assertThat(log.get(4)).contains("Nothing is asked any more");
  }

  /** Reads in two seconds, of a consumer that asks again as soon as it has been answered. */
  private static int served(ExecutorService readers, Outages served) throws Exception {
    int reads = 0;
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(2);
    while (System.nanoTime() < end) {
      reads +=
          readers
              .submit(
                  () ->
                      served.read(
                          () -> 0,
                          false,
                          () -> {
                            Thread.sleep(2);
                            served.served();
                            return 1;
                          }))
              .get();
    }
    return reads;
  }

  @Test
  void othersAreReadAtTheirUsualRateMeanwhile() throws Exception {
    othersAreReadMeanwhile((outages, took) -> outages.read(took, false, this::attempt));
  }

  /** Kafka's other threads wait for the lock, and no limit counts them. */
  @Test
  void othersAreReadAtTheirUsualRateWhileAnIndexIsAway() throws Exception {
    Object lock = new Object();
    othersAreReadMeanwhile(
        (outages, took) -> {
          synchronized (lock) {
            return outages.read(took, true, this::attempt);
          }
        });
  }

  private interface Read {
    int from(Outages outages, LongSupplier took) throws IOException, InterruptedException;
  }

  /** On ten threads, as Kafka's; a consumer of what is away asks again after half a second. */
  private void othersAreReadMeanwhile(Read away) throws Exception {
    ExecutorService readers = Executors.newFixedThreadPool(10);
    ScheduledExecutorService consumers = Executors.newScheduledThreadPool(2);
    try (Outages real = new Outages(KafkaReads.DEFAULT, EngineEnvironment.system(), log::add)) {
      int before = served(readers, real);
      for (int consumer = 0; consumer < 50; consumer++) {
        var unused =
            consumers.scheduleAtFixedRate(
                () -> {
                  LongSupplier took = fromNow(); // Kafka drops what waits for a thread too long.
                  var unusedToo = readers.submit(() -> away.from(real, took));
                },
                10L * consumer,
                500,
                TimeUnit.MILLISECONDS);
      }
      Thread.sleep(1000);
      // Half, and of some attempts the best: the machine may be busy with other tests. Where reads
      // of what is away take all threads, none comes near it.
      int meanwhile = 0;
      for (int attempt = 0; attempt < 5 && meanwhile <= before / 2; attempt++) {
        meanwhile = Math.max(meanwhile, served(readers, real));
      }
      assertThat(meanwhile).isGreaterThan(before / 2);
    } finally {
      var unused = consumers.shutdownNow();
      var unusedToo = readers.shutdownNow();
    }
  }
}
