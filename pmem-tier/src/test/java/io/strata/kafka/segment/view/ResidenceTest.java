package io.strata.kafka.segment.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.space.Extent;
import io.strata.kafka.pool.words.SlotState;
import io.strata.kafka.segment.TinyPool;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A window that two threads close is freed once. */
final class ResidenceTest {

  private static final int ROUNDS = 200;

  @TempDir private Path directory;

  @Test
  void oneOfTwoThreadsGetsTheExtents() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try (TinyPool pool = TinyPool.create(directory.resolve("a.pool"))) {
      long free = pool.pool().usage().freeBytes();
      CyclicBarrier together = new CyclicBarrier(2);
      for (int i = 0; i < ROUNDS; i++) {
        Residence copy = new Residence(grown(pool), pool.pool());
        List<Extent> extents = copy.slot().extents().toList();
        Callable<List<Extent>> freeing =
            () -> {
              int unused = together.await();
              return copy.free();
            };
        Future<List<Extent>> one = threads.submit(freeing);
        Future<List<Extent>> other = threads.submit(freeing);
        assertThat(List.of(one.get(), other.get()))
            .as("round " + i)
            .containsExactlyInAnyOrder(extents, List.of());
        assertThat(copy.slot().state()).isEqualTo(SlotState.FREE);
        pool.pool().release(extents);
      }
      assertThat(pool.pool().usage().freeBytes()).isEqualTo(free);
    } finally {
      threads.shutdownNow();
    }
  }

  private static Slot grown(TinyPool pool) throws IOException {
    Slot slot = pool.allocate("copy");
    assertThat(slot.grow()).isTrue();
    assertThat(slot.grow()).isTrue();
    return slot;
  }

  @Test
  void whatIsFreeAlreadyHasNothingToGive() throws Exception {
    try (TinyPool pool = TinyPool.create(directory.resolve("a.pool"))) {
      Residence copy = new Residence(grown(pool), pool.pool());
      pool.pool().release(copy.free());
      // The slot's next segment is none of this copy's.
      Slot next = grown(pool);
      assertThat(copy.free()).isEmpty();
      assertThat(next.state()).isEqualTo(SlotState.LIVE);
      assertThat(pool.pool().slot(next.index(), next.generation())).contains(next);
    }
  }
}
