package io.strata.kafka.pool.space;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BuddyAllocatorTest {
  private static final long BLOCK = 64 << 10;
  private static final long DATA = 2 << 20;

  /** The same as a set of used blocks, and every answer by search. */
  private static final class Model {
    private final int blocks;
    private final BitSet used = new BitSet();

    Model(int blocks) {
      this.blocks = blocks;
    }

    boolean isFree(int start, int order) {
      int end = start + (1 << order);
      int next = used.nextSetBit(start);
      return end <= blocks && (next < 0 || next >= end);
    }

    int largestFreeOrder() {
      for (int order = 10; order >= 0; order--) {
        for (int start = 0; start < blocks; start += 1 << order) {
          if (isFree(start, order)) {
            return order;
          }
        }
      }
      return -1;
    }

    void set(long position, int order, boolean value) {
      int start = (int) ((position - DATA) / BLOCK);
      used.set(start, start + (1 << order), value);
    }

    long freeBytes() {
      return (blocks - used.cardinality()) * BLOCK;
    }
  }

  private record Block(long position, int order) {}

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 32, 1024, 1025, 3000, 5119})
  void agreesWithASetOfUsedBlocks(int blocks) {
    for (long seed = 1; seed <= 5; seed++) {
      Random random = new Random(seed);
      BuddyAllocator allocator = new BuddyAllocator(DATA, blocks * BLOCK);
      Model model = new Model(blocks);
      List<Block> taken = new ArrayList<>();
      for (int i = 0; i < 1500; i++) {
        if (random.nextInt(100) < (i / 300 % 2 == 0 ? 65 : 35)) {
          int order = Math.min(random.nextInt(11), random.nextInt(11));
          OptionalLong position = allocator.allocate(order);
          assertThat(position.isPresent())
              .as("seed %d, step %d, order %d", seed, i, order)
              .isEqualTo(model.largestFreeOrder() >= order);
          if (position.isPresent()) {
            int start = (int) ((position.getAsLong() - DATA) / BLOCK);
            assertThat(start % (1 << order)).as("aligned, seed %d, step %d", seed, i).isZero();
            assertThat(model.isFree(start, order)).as("free, seed %d, step %d", seed, i).isTrue();
            model.set(position.getAsLong(), order, true);
            taken.add(new Block(position.getAsLong(), order));
          }
        } else if (!taken.isEmpty()) {
          Block block = taken.remove(random.nextInt(taken.size()));
          allocator.free(block.position(), block.order());
          model.set(block.position(), block.order(), false);
        }
        assertThat(allocator.freeBytes()).isEqualTo(model.freeBytes());
        int largest = model.largestFreeOrder();
        assertThat(allocator.largestFree())
            .isEqualTo(largest < 0 ? 0 : BuddyAllocator.lengthOf(largest));
      }
      assertRebuilt(allocator, blocks, taken, random);
    }
  }

  /** Marking the same blocks in any order gives the same map: it answers alike from then on. */
  private static void assertRebuilt(
      BuddyAllocator allocator, int blocks, List<Block> taken, Random random) {
    BuddyAllocator rebuilt = new BuddyAllocator(DATA, blocks * BLOCK);
    List<Block> shuffled = new ArrayList<>(taken);
    java.util.Collections.shuffle(shuffled, random);
    for (Block block : shuffled) {
      assertThat(rebuilt.markUsed(block.position(), block.order())).isTrue();
    }
    for (Block block : shuffled) {
      assertThat(rebuilt.markUsed(block.position(), block.order())).isFalse();
      assertThat(rebuilt.markUsed(block.position(), 0)).isFalse();
    }
    assertThat(rebuilt.freeBytes()).isEqualTo(allocator.freeBytes());
    for (int i = 0; i < 100; i++) {
      int order = random.nextInt(11);
      assertThat(rebuilt.allocate(order)).isEqualTo(allocator.allocate(order));
    }
  }

  @Test
  void aBlockThatHoldsAUsedOneIsNotMarked() {
    BuddyAllocator allocator = new BuddyAllocator(DATA, 32 * BLOCK);
    assertThat(allocator.markUsed(DATA + 5 * BLOCK, 0)).isTrue();
    long free = allocator.freeBytes();
    assertThat(allocator.markUsed(DATA + 4 * BLOCK, 1)).isFalse();
    assertThat(allocator.markUsed(DATA, 5)).isFalse();
    assertThat(allocator.freeBytes()).isEqualTo(free);
    assertThat(allocator.markUsed(DATA + 4 * BLOCK, 0)).isTrue();
  }

  @Test
  void theLargestBlockThatThereIsIsTaken() {
    BuddyAllocator allocator = new BuddyAllocator(DATA, 7 * BLOCK);
    assertThat(allocator.allocateAtMost(1)).contains(new Extent(DATA + 4 * BLOCK, 2 * BLOCK));
    assertThat(allocator.allocateAtMost(10)).contains(new Extent(DATA, 4 * BLOCK));
    assertThat(allocator.allocateAtMost(3)).contains(new Extent(DATA + 6 * BLOCK, BLOCK));
    assertThat(allocator.allocateAtMost(3)).isEmpty();
  }

  @Test
  void whatIsFreeCannotBeFreed() {
    BuddyAllocator allocator = new BuddyAllocator(DATA, 32 * BLOCK);
    long position = allocator.allocate(2).orElseThrow();
    assertThatThrownBy(() -> allocator.free(position + 4 * BLOCK, 2))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("free already");
    assertThatThrownBy(() -> allocator.free(position, 3)).hasMessageContaining("free already");
    assertThatThrownBy(() -> allocator.free(position + 4 * BLOCK, 0))
        .hasMessageContaining("free already");
    allocator.free(position, 2);
    assertThatThrownBy(() -> allocator.free(position, 2)).hasMessageContaining("free already");
    assertThat(allocator.freeBytes()).isEqualTo(32 * BLOCK);
    assertThat(allocator.largestFree()).isEqualTo(32 * BLOCK);
  }

  @Test
  void rangesAreChecked() {
    BuddyAllocator allocator = new BuddyAllocator(DATA, 32 * BLOCK);
    assertThatThrownBy(() -> allocator.free(DATA + BLOCK, 1)).hasMessageContaining("not aligned");
    assertThatThrownBy(() -> allocator.free(DATA - BLOCK, 0)).hasMessageContaining("outside");
    assertThatThrownBy(() -> allocator.free(DATA + 32 * BLOCK, 0)).hasMessageContaining("outside");
    assertThatThrownBy(() -> BuddyAllocator.orderOf(BLOCK + 1))
        .hasMessageContaining("power of two");
    assertThatThrownBy(() -> BuddyAllocator.orderOf(BLOCK / 2)).hasMessageContaining("65536");
    assertThatThrownBy(() -> BuddyAllocator.orderOf(BLOCK << 11)).hasMessageContaining("67108864");
  }

  @Test
  void manyThreadsNeverGetTheSameBlock() {
    BuddyAllocator allocator = new BuddyAllocator(DATA, 4096 * BLOCK);
    Set<Long> seen = java.util.Collections.synchronizedSet(new TreeSet<>());
    IntStream.range(0, 8)
        .parallel()
        .forEach(
            thread -> {
              Random random = new Random(thread);
              List<Block> mine = new ArrayList<>();
              for (int i = 0; i < 2000; i++) {
                int order = random.nextInt(4);
                if (mine.size() > 20) {
                  Block block = mine.remove(random.nextInt(mine.size()));
                  for (int b = 0; b < 1 << block.order(); b++) {
                    seen.remove(block.position() + b * BLOCK);
                  }
                  allocator.free(block.position(), block.order());
                }
                allocator
                    .allocate(order)
                    .ifPresent(
                        position -> {
                          for (int b = 0; b < 1 << order; b++) {
                            assertThat(seen.add(position + b * BLOCK)).isTrue();
                          }
                          mine.add(new Block(position, order));
                        });
              }
            });
    assertThat(allocator.freeBytes()).isEqualTo((4096L - seen.size()) * BLOCK);
  }

  @Test
  void theSetOfBlocksFindsItsSmallest() {
    for (int capacity : new int[] {1, 63, 64, 65, 4096, 4097, 300_000}) {
      Random random = new Random(capacity);
      BlockSet set = new BlockSet(capacity);
      TreeSet<Integer> model = new TreeSet<>();
      for (int i = 0; i < 3000; i++) {
        int number = random.nextInt(capacity);
        assertThat(set.contains(number)).isEqualTo(model.contains(number));
        if (model.remove(number)) {
          set.remove(number);
        } else {
          model.add(number);
          set.add(number);
        }
        assertThat(set.size()).isEqualTo(model.size());
        assertThat(set.first().isPresent()).isEqualTo(!model.isEmpty());
        if (!model.isEmpty()) {
          assertThat(set.first().getAsInt()).isEqualTo(model.first());
        }
        int from = random.nextInt(capacity + 100);
        assertThat(set.firstFrom(from).stream().boxed())
            .isEqualTo(model.tailSet(from).stream().limit(1).toList());
      }
      assertThat(set.contains(capacity)).isFalse();
    }
  }
}
