package io.strata.kafka.migration.remote.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The contract, and what is this arena's own. */
class MemoryArenaTest extends ChunkArenaContract {

  @Override
  protected ChunkArena newArena(long capacityBytes, int frameBytes) {
    return new MemoryArena(capacityBytes);
  }

  @Test
  void anIdleArenaTakesNothing() {
    try (MemoryArena arena = new MemoryArena(1L << 40)) {
      assertThat(arena.takenBytes()).isZero();
      assertThat(arena.store(new ChunkKey(1, 2, 3), ByteBuffer.allocate(1))).isPresent();
      assertThat(arena.takenBytes()).isEqualTo(4 << 20);
      assertThat(arena.usedBytes()).isEqualTo(64 << 10);
    }
  }

  /** Chunks of all sizes, in any order: the space is whole again at the end. */
  @Test
  void noRoomIsLostBetweenChunks() {
    try (MemoryArena arena = new MemoryArena((6 << 20) + 12_345)) {
      assertThat(arena.capacityBytes()).isEqualTo(6 << 20);
      java.util.Random random = new java.util.Random(7);
      List<ChunkArena.Frame> frames = new ArrayList<>();
      for (int i = 0; i < 2000; i++) {
        int length = 1 + random.nextInt(1 << 20);
        arena.store(new ChunkKey(0, 0, i), ByteBuffer.allocate(length)).ifPresent(frames::add);
        if (frames.size() > 5) {
          frames.remove(random.nextInt(frames.size())).release();
        }
      }
      frames.forEach(ChunkArena.Frame::release);
      assertThat(arena.usedBytes()).isZero();
      for (int i = 0; i < 6; i++) {
        assertThat(arena.store(new ChunkKey(0, 1, i), ByteBuffer.allocate(1 << 20))).isPresent();
      }
      assertThat(arena.usedBytes()).isEqualTo(6 << 20);
    }
  }

  @Test
  void boundsAreChecked() {
    assertThatThrownBy(() -> new MemoryArena(-1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("-1");
    try (MemoryArena none = new MemoryArena(0)) {
      assertThat(none.store(new ChunkKey(0, 0, 0), ByteBuffer.allocate(1))).isEmpty();
    }
  }
}
