package io.strata.kafka.segment.view;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ReaderGateTest {

  private static final int PUBLICATIONS = 1000;

  private final ReaderGate gate = new ReaderGate();
  private final List<String> released = new ArrayList<>();

  @Test
  void nobodyInsideReleasesAtOnce() {
    assertThat(gate.retire(() -> released.add("a"))).isTrue();
    assertThat(gate.retire(() -> released.add("b"))).isTrue();
    assertThat(released).containsExactly("a", "b");
  }

  @Test
  void theLastOfTheOldReadersReleases() {
    int first = gate.enter();
    int second = gate.enter();
    assertThat(gate.retire(() -> released.add("a"))).isFalse();
    int later = gate.enter();
    gate.exit(first);
    assertThat(released).isEmpty();
    gate.exit(second);
    assertThat(released).containsExactly("a");
    gate.exit(later);
  }

  @Test
  void laterReadersDoNotHoldWhatTheyCannotSee() {
    int old = gate.enter();
    assertThat(gate.retire(() -> released.add("a"))).isFalse();
    int later = gate.enter();
    gate.exit(old);
    assertThat(released).containsExactly("a");
    // The later one may have seen what is retired only now.
    assertThat(gate.retire(() -> released.add("b"))).isFalse();
    gate.exit(later);
    assertThat(released).containsExactly("a", "b");
  }

  @Test
  void whatIsRetiredWhileDrainingWaitsForReadersOfBothEpochs() {
    int old = gate.enter();
    assertThat(gate.retire(() -> released.add("a"))).isFalse();
    int later = gate.enter();
    assertThat(gate.retire(() -> released.add("b"))).isFalse();
    gate.exit(old);
    assertThat(released).containsExactly("a");
    gate.exit(later);
    assertThat(released).containsExactly("a", "b");
    assertThat(gate.retire(() -> released.add("c"))).isTrue();
  }

  /**
   * Blocks of a small memory go round between two owners' states: a reader inside the gate must
   * find its block with the stamp that it was published with, however often it looks.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  @SuppressWarnings("ThreadPriorityCheck") // yields to vary the interleavings, not for progress
  void noReaderMeetsTheNextOwner(long seed) throws Exception {
    int readers = 3;
    AtomicIntegerArray memory = new AtomicIntegerArray(4);
    ConcurrentLinkedQueue<Integer> free = new ConcurrentLinkedQueue<>(List.of(1, 2, 3));
    AtomicBoolean stop = new AtomicBoolean();
    AtomicLong reads = new AtomicLong();
    // Published: stamp << 2 | block.
    AtomicLong published = new AtomicLong(1L << 2);
    memory.set(0, 1);
    // Nothing is published before each reader is under way: a fast writer would be done by then.
    CountDownLatch underWay = new CountDownLatch(readers);
    ExecutorService pool = Executors.newFixedThreadPool(readers);
    try {
      List<Future<?>> running = new ArrayList<>();
      for (int r = 0; r < readers; r++) {
        Random random = new Random(seed * 31 + r);
        running.add(
            pool.submit(
                () -> {
                  while (!stop.get()) {
                    int token = gate.enter();
                    long state = published.get();
                    for (int look = random.nextInt(50); look >= 0; look--) {
                      int stamp = memory.get((int) (state & 3));
                      if (stamp != (int) (state >> 2)) {
                        throw new AssertionError("found " + stamp + ", expected " + (state >> 2));
                      }
                      if (look % 17 == 3) {
                        Thread.yield();
                      }
                    }
                    gate.exit(token);
                    reads.incrementAndGet();
                    underWay.countDown();
                  }
                }));
      }
      assertThat(underWay.await(60, TimeUnit.SECONDS)).isTrue();
      Random random = new Random(seed);
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      int stamp = 1;
      while (stamp < PUBLICATIONS
          && System.nanoTime() < end
          && running.stream().noneMatch(Future::isDone)) {
        Integer block = free.poll();
        if (block == null) {
          Thread.yield();
          continue;
        }
        stamp++;
        memory.set(block, stamp);
        int old = (int) (published.getAndSet((long) stamp << 2 | block) & 3);
        gate.retire(
            () -> {
              memory.set(old, -1);
              free.add(old);
            });
        if (random.nextInt(8) == 0) {
          Thread.yield();
        }
      }
      stop.set(true);
      for (Future<?> reader : running) {
        reader.get(10, TimeUnit.SECONDS);
      }
      // Nothing is left behind when all are gone.
      assertThat(gate.retire(() -> {})).isTrue();
      assertThat(free).as("seed %s", seed).hasSize(3).doesNotHaveDuplicates();
      assertThat(reads.get()).isPositive();
      assertThat(stamp).isEqualTo(PUBLICATIONS);
    } finally {
      stop.set(true);
      pool.shutdownNow();
    }
  }
}
