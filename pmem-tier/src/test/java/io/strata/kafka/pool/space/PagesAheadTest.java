package io.strata.kafka.pool.space;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.PersistentMemory;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(value = 600, unit = TimeUnit.SECONDS)
class PagesAheadTest {
  private static final long MIB = 1 << 20;
  private static final int LARGEST = 10;
  private static final long DATA = 4 * MIB;
  private static final long SIZE = 16L << 30;

  private final BuddyAllocator allocator = new BuddyAllocator(DATA, SIZE);
  private final BitSet present = new BitSet();
  private final Semaphore passes = new Semaphore(0);
  private boolean possible = true;

  @Test
  void aNewPoolHasItsFirstBlocksPresentAndNoMore() throws IOException {
    try (PagesAhead pages = pages(Durability.PROCESS)) {
      assertThat(pages.ahead()).isTrue();
    }
    assertThat(mebibytes()).isEqualTo(PagesAhead.DISTANCE / MIB);
    assertPresent(new Extent(DATA, PagesAhead.DISTANCE));
  }

  @Test
  void theNextBlocksFollowThoseThatAreTaken() throws IOException {
    try (PagesAhead pages = pages(Durability.PROCESS)) {
      for (int taken = 0; taken < 100; taken++) {
        assertThat(pages.ahead()).isTrue();
        Extent extent = allocator.allocateAtMost(LARGEST).orElseThrow();
        assertPresent(extent);
      }
    }
    assertThat(mebibytes()).isEqualTo(99 * 64 + PagesAhead.DISTANCE / MIB);
  }

  /** Blocks are given out by their length, so that short ones at the front must not hide others. */
  @Test
  void everyLengthHasItsNextBlocksPresent() throws IOException {
    List<Extent> small = new ArrayList<>();
    for (long bytes = 0; bytes < 2 * PagesAhead.DISTANCE; bytes += 64 << 10) {
      small.add(allocator.allocateAtMost(0).orElseThrow());
    }
    for (int i = 0; i < small.size(); i += 2) {
      allocator.free(small.get(i).position(), 0);
    }
    try (PagesAhead pages = pages(Durability.POWER)) {
      assertThat(pages.ahead()).isTrue();
    }
    for (int order = 0; order <= LARGEST; order++) {
      assertPresent(allocator.allocateAtMost(order).orElseThrow());
    }
  }

  @Test
  void theThreadBeginsWithWhatSegmentsHaveAndGoesOnWhenBlocksAreTaken() throws Exception {
    Extent begun = new Extent(DATA + (8L << 30) + 12_345, 100_000);
    assertThat(allocator.markUsed(DATA + (8L << 30), LARGEST)).isTrue();
    try (PagesAhead pages = pages(Durability.PROCESS)) {
      pages.start(PagesAheadTest::daemon, List.of(begun));
      passes.acquire((int) (PagesAhead.DISTANCE / PagesAhead.STEP) + 1);
      assertPresent(begun);
      for (int taken = 0; taken < 8; taken++) {
        pages.taken(allocator.allocateAtMost(LARGEST).orElseThrow().length());
        passes.acquire((int) (64 * MIB / PagesAhead.STEP));
      }
      assertPresent(new Extent(DATA, PagesAhead.DISTANCE + 8 * 64 * MIB));
    }
  }

  @Test
  void theThreadEndsWithThePool() throws Exception {
    CompletableFuture<Thread> thread = new CompletableFuture<>();
    try (PagesAhead pages = pages(Durability.PROCESS)) {
      pages.start(noting(thread), List.of());
      passes.acquire(1);
    }
    thread.join().join();
  }

  @Test
  void theThreadEndsWhereTheSystemCannot() throws Exception {
    possible = false;
    CompletableFuture<Thread> thread = new CompletableFuture<>();
    try (PagesAhead pages = pages(Durability.PROCESS)) {
      pages.start(noting(thread), List.of());
      thread.join().join();
      pages.taken(PagesAhead.DISTANCE);
    }
    assertThat(passes.availablePermits()).isEqualTo(1);
  }

  /** Its free pages would be dirty, and the kernel would write them to the medium. */
  @ParameterizedTest
  @EnumSource(Durability.class)
  void aPoolThatNeedsAForceHasNoThread(Durability durability) throws IOException {
    CountDownLatch started = new CountDownLatch(1);
    try (PagesAhead pages = pages(durability)) {
      pages.start(
          task -> {
            started.countDown();
            return daemon(() -> {});
          },
          List.of());
    }
    assertThat(started.getCount()).isEqualTo(durability.needsForce() ? 1 : 0);
  }

  private static ThreadFactory noting(CompletableFuture<Thread> made) {
    return task -> {
      Thread started = daemon(task);
      assertThat(made.complete(started)).isTrue();
      return started;
    };
  }

  private static Thread daemon(Runnable task) {
    Thread thread = new Thread(task, "pages");
    thread.setDaemon(true);
    return thread;
  }

  private void assertPresent(Extent extent) {
    long last = (extent.position() + extent.length() - 1) / MIB;
    synchronized (present) {
      assertThat(LongStream.rangeClosed(extent.position() / MIB, last).boxed())
          .as("%s", extent)
          .allMatch(mebibyte -> present.get(mebibyte.intValue()));
    }
  }

  private long mebibytes() {
    synchronized (present) {
      return present.cardinality();
    }
  }

  private PagesAhead pages(Durability durability) {
    PersistentMemory memory =
        (PersistentMemory)
            Proxy.newProxyInstance(
                PersistentMemory.class.getClassLoader(),
                new Class<?>[] {PersistentMemory.class},
                (proxy, method, args) ->
                    switch (method.getName()) {
                      case "durability" -> durability;
                      case "writable" -> true;
                      case "populate" -> populate((long) args[0], (long) args[1]);
                      default -> throw new InvocationTargetException(null, method.getName());
                    });
    return new PagesAhead(memory, allocator, DATA + SIZE);
  }

  private boolean populate(long position, long length) {
    assertThat(position % PagesAhead.STEP).isZero();
    assertThat(length).isBetween(1L, (long) PagesAhead.STEP);
    synchronized (present) {
      present.set((int) (position / MIB), (int) ((position + length - 1) / MIB) + 1);
    }
    passes.release();
    return possible;
  }
}
