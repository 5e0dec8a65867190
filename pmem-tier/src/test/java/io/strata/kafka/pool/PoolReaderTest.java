package io.strata.kafka.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.PersistentMemory;
import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.pool.space.ExtentList;
import io.strata.kafka.pool.words.PoolException;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.pool.words.SlotSnapshot;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.NonWritableChannelException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A pool that is read through a mapping of its own while it is written to. */
class PoolReaderTest {
  private static final UUID DIRECTORY = new UUID(5, 6);

  @TempDir private Path directory;
  private List<AutoCloseable> open = new ArrayList<>();

  @BeforeEach
  void create() throws IOException {
    open = new ArrayList<>();
    Pool.create(
        PoolSpec.of(file(), MemoryType.MAPPED, 4 << 20).withSlotCount(3), ProgressListener.NONE);
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable resource : open) {
      resource.close();
    }
  }

  private Path file() {
    return directory.resolve("x.pool");
  }

  private Pool writer() throws IOException {
    Pool pool = Pool.open(file(), MemoryType.MAPPED, PoolOwner.ANY);
    open.add(pool);
    return pool;
  }

  private PoolReader reader() throws IOException {
    PoolReader reader = Pool.openReadOnly(file());
    open.add(reader);
    return reader;
  }

  @Test
  void aSnapshotIsOfTheSlot() throws IOException {
    PoolReader reader = reader();
    Slot slot = writer().allocateSlot(DIRECTORY, "t-0/0.log").orElseThrow();
    assertThat(slot.grow()).isTrue();
    slot.commit(77);
    slot.set(SlotFlag.SPILLED);

    SlotSnapshot snapshot = reader.read(slot.index(), slot.generation()).orElseThrow();

    assertThat(snapshot.committedLength()).isEqualTo(77);
    assertThat(snapshot.extents()).isEqualTo(slot.extents());
    assertThat(snapshot.flags()).isEqualTo(SlotFlag.SPILLED.bit());
    assertThat(snapshot.relativePath()).isEqualTo("t-0/0.log");
    assertThat(snapshot.directoryId()).isEqualTo(DIRECTORY);
    assertThat(reader.readAll()).containsExactly(snapshot);
    assertThat(reader.valid(snapshot)).isTrue();
    assertThat(reader.read(slot.index(), slot.generation() + 1)).isEmpty();
    assertThat(reader.read(-1)).isEmpty();
    assertThat(reader.read(3)).isEmpty();
    assertThat(reader.info().slotCount()).isEqualTo(3);
  }

  @Test
  void aSnapshotIsValidUntilExtentsMayBeOthers() throws IOException {
    Pool pool = writer();
    PoolReader reader = reader();
    Slot slot = pool.allocateSlot(DIRECTORY, "t-0/0.log").orElseThrow();
    assertThat(slot.grow()).isTrue();
    slot.commit(77);
    SlotSnapshot first = reader.read(slot.index()).orElseThrow();
    slot.commit(100);
    assertThat(slot.grow()).isTrue();
    assertThat(reader.valid(first)).as("appends do no harm").isTrue();
    slot.setCleanLength(60);
    pool.release(slot.truncate(50));
    assertThat(reader.valid(first)).as("a truncation may").isFalse();
    SlotSnapshot second = reader.read(slot.index()).orElseThrow();
    assertThat(reader.valid(second)).isTrue();
    slot.markDeleting();
    assertThat(reader.valid(second)).as("so may a deletion that has begun").isFalse();
    assertThat(reader.read(slot.index()).orElseThrow().extents().count()).isZero();
    slot.free();
    assertThat(reader.valid(second)).isFalse();
    assertThat(reader.read(slot.index())).isEmpty();
    Slot unused = PoolTest.allocateAgain(pool, slot.index());
    assertThat(reader.valid(second)).isFalse();
  }

  @Test
  void nothingCanBeWritten() throws IOException {
    PersistentMemory memory = reader().memory();
    assertThat(memory.writable()).isFalse();
    assertThatThrownBy(() -> memory.storeLong(0, 1))
        .isInstanceOf(NonWritableChannelException.class);
  }

  @Test
  void aDamagedSlotIsRefused() throws IOException {
    Pool pool = writer();
    Slot slot = pool.allocateSlot(DIRECTORY, "t-0/0.log").orElseThrow();
    pool.memory().storeLong(SlotLayout.slotPosition(slot.index()) + 16, 12345);
    PoolReader reader = reader();
    assertThatThrownBy(() -> reader.read(slot.index()))
        .isInstanceOf(PoolException.class)
        .hasMessageContaining("found a damaged slot: ERROR slot 0 at 12304")
        .hasMessageContaining("strata pool check");
  }

  /**
   * A writer creates, appends to, truncates and deletes segments, each filled with its own byte. A
   * reader must never take another segment's bytes for those of a valid snapshot.
   */
  @Test
  void aValidSnapshotsBytesAreTheSegmentsOwn() throws IOException {
    Pool pool = writer();
    PoolReader reader = reader();
    AtomicBoolean stop = new AtomicBoolean();
    CompletableFuture<Void> writing =
        CompletableFuture.runAsync(
            () -> {
              try {
                churn(pool, stop);
              } catch (IOException e) {
                throw new CompletionException(e);
              }
            });
    int valid = 0;
    long end = System.nanoTime() + 1_000_000_000L;
    while (System.nanoTime() < end && !writing.isDone()) {
      for (int index = 0; index < 3; index++) {
        valid += reader.read(index).map(snapshot -> readOnce(reader, snapshot)).orElse(0);
      }
    }
    stop.set(true);
    writing.join();
    assertThat(valid).isPositive();
  }

  private static int readOnce(PoolReader reader, SlotSnapshot snapshot) {
    try {
      ExtentList extents = snapshot.extents();
      boolean own = true;
      byte mark = mark(snapshot.index(), snapshot.generation());
      for (int i = 0; i < extents.count(); i++) {
        long length = Math.min(extents.length(i), snapshot.committedLength() - extents.start(i));
        if (length > 0) {
          ByteBuffer bytes = ByteBuffer.allocate((int) length);
          reader.memory().load(extents.position(i), bytes);
          for (byte b : bytes.array()) {
            own &= b == mark;
          }
        }
      }
      boolean valid = reader.valid(snapshot);
      assertThat(own || !valid).as("%s holds its own bytes", snapshot).isTrue();
      return valid ? 1 : 0;
    } catch (IOException e) {
      throw new CompletionException(e);
    }
  }

  private static void churn(Pool pool, AtomicBoolean stop) throws IOException {
    Random random = new Random(1);
    List<Slot> slots = new ArrayList<>();
    while (!stop.get()) {
      if (slots.size() < 3) {
        slots.add(pool.allocateSlot(DIRECTORY, "s").orElseThrow());
      }
      Slot slot = slots.get(random.nextInt(slots.size()));
      int choice = random.nextInt(10);
      if (choice < 6) {
        append(pool, slot);
      } else if (choice < 9) {
        pool.release(slot.truncate(random.nextLong(slot.committedLength() + 1)));
      } else {
        slot.markDeleting();
        pool.release(slot.extents().toList());
        slot.free();
        slots.remove(slot);
      }
    }
  }

  private static void append(Pool pool, Slot slot) throws IOException {
    if (slot.committedLength() == slot.extents().end() && !slot.grow()) {
      return;
    }
    ExtentList extents = slot.extents();
    int i = extents.find(slot.committedLength());
    byte[] bytes =
        new byte[(int) (extents.length(i) - (slot.committedLength() - extents.start(i)))];
    Arrays.fill(bytes, mark(slot.index(), slot.generation()));
    pool.memory()
        .storeAndPersist(
            extents.position(i) + slot.committedLength() - extents.start(i),
            ByteBuffer.wrap(bytes));
    slot.commit(slot.committedLength() + bytes.length);
  }

  private static byte mark(int index, long generation) {
    return (byte) (1 + (index * 83L + generation) % 250);
  }
}
