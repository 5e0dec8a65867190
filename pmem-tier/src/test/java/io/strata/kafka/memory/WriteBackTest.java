package io.strata.kafka.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.intel.pmem.llpl.MemoryPool;
import io.strata.kafka.memory.calls.LlplPmem;
import io.strata.kafka.memory.calls.MappedWindows;
import io.strata.kafka.memory.calls.PmemCalls;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A device that fails once, and says so once, as the kernel does. */
@Timeout(value = 600, unit = TimeUnit.SECONDS)
class WriteBackTest {
  private static final Set<StandardOpenOption> OPTIONS =
      Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);
  private static final int SIZE = 1 << 20;

  @TempDir Path directory;

  private Path file = Path.of("");
  private boolean failing;

  @BeforeEach
  void allocate() throws IOException {
    file = directory.resolve("x.pool");
    MadeFile.of(file, SIZE);
  }

  @Test
  void oneFailedForceIsThatOfEverybodyInAFile() throws Exception {
    ReopeningChannel channel = new ReopeningChannel(file, OPTIONS, Optional.empty());
    try (PersistentMemory memory =
        new FileMemory(
            file,
            SIZE,
            true,
            Durability.FORCE,
            channel,
            Optional.empty(),
            WriteBack.ofWholeFile(file, failingOnce()),
            Optional.empty())) {
      staysRefused(memory);
    }
    try (PersistentMemory again = MemoryOpener.open(MemoryType.FILE, file, true)) {
      worksWhenReopened(again);
    }
  }

  @Test
  void oneFailedForceIsThatOfEverybodyInAMapping() throws Exception {
    try (PersistentMemory memory =
        new MappedMemory(
            MemoryType.MAPPED,
            file,
            SIZE,
            true,
            Durability.FORCE,
            windows(),
            WriteBack.ofRanges(file, failingOnce()),
            Optional.empty())) {
      staysRefused(memory);
    }
    try (PersistentMemory again = MemoryOpener.open(MemoryType.MAPPED, file, true)) {
      worksWhenReopened(again);
    }
  }

  @Test
  void oneFailedForceIsThatOfEverybodyWithLibpmem() throws Exception {
    MemoryOpener.unavailable(MemoryType.PMEM).ifPresent(Assumptions::abort);
    MappedWindows windows = windows();
    PmemCalls calls = new LlplPmem(MemoryPool.openPool(file.toString()));
    try (PersistentMemory memory =
        new PmemMemory(
            file,
            SIZE,
            Durability.FORCE,
            windows,
            WriteBack.ofRanges(file, failingOnce()),
            Optional.of(calls),
            Optional.empty())) {
      staysRefused(memory);
    }
  }

  @Test
  void aForceUnderWayWhileAnotherOneFailsFails() throws Exception {
    CountDownLatch within = new CountDownLatch(1);
    CountDownLatch failed = new CountDownLatch(1);
    WriteBack<String> writeBack =
        WriteBack.ofRanges(
            file,
            (name, position, length) -> {
              if (name.equals("fails")) {
                throw new IOException("staged");
              }
              within.countDown();
              await(failed);
            });
    FutureTask<Void> other = forcing(writeBack);
    new Thread(other, "other force").start();
    await(within);
    assertThatThrownBy(() -> writeBack.force("fails", 64, 16)).hasMessage("staged");
    failed.countDown();
    assertThatThrownBy(other::get).hasRootCauseMessage("staged");
  }

  /** Also after an Error, as of memory that runs out for a moment. */
  @Test
  void noSharedForceBeginsAfterOneThatFailed() throws Exception {
    CountDownLatch within = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    AtomicInteger calls = new AtomicInteger();
    WriteBack<String> writeBack =
        WriteBack.ofWholeFile(
            file,
            (name, position, length) -> {
              calls.incrementAndGet();
              within.countDown();
              await(go);
              throw new OutOfMemoryError("staged");
            });
    FutureTask<Void> first = forcing(writeBack);
    new Thread(first, "first force").start();
    await(within);
    FutureTask<Void> next = forcing(writeBack);
    Thread waiting = new Thread(next, "next force");
    waiting.start();
    while (waiting.getState() != Thread.State.WAITING) {
      assertThat(waiting.isAlive()).isTrue();
      Thread.onSpinWait();
    }
    go.countDown();
    for (FutureTask<Void> each : List.of(first, next, forcing(writeBack))) {
      each.run(); // The last one.
      assertThatThrownBy(each::get).hasRootCauseMessage("staged");
    }
    assertThat(calls).hasValue(1);
    assertThat(writeBack.failure()).isPresent();
  }

  private static FutureTask<Void> forcing(WriteBack<String> writeBack) {
    return new FutureTask<>(
        () -> {
          writeBack.force("", 0, 16);
          return null;
        });
  }

  private void staysRefused(PersistentMemory memory) throws IOException {
    memory.storeLong(0, 1);
    memory.force(0, 16);
    memory.storeLong(64, 2); // segment B's
    failing = true;
    assertThatThrownBy(() -> memory.force(0, 16)).as("segment A's force").hasMessage("staged");
    assertThat(failing).as("the device fails only once").isFalse();
    ByteBuffer source = ByteBuffer.allocate(16);
    for (ThrowingCallable call :
        List.<ThrowingCallable>of(
            () -> memory.force(64, 8),
            () -> memory.force(0, 16),
            () -> memory.storeLong(128, 3),
            () -> memory.store(128, source),
            () -> memory.storeAndPersist(128, source),
            () -> memory.zero(128, 16))) {
      assertThatThrownBy(call)
          .isInstanceOf(IOException.class)
          .hasMessageContaining(file.toString())
          .hasMessageContaining("restart the machine")
          .hasRootCauseMessage("staged");
    }
    assertThat(source.position()).isZero();
    assertThat(memory.loadLong(64)).as("what can be read still is").isEqualTo(2);
    assertThat(memory.loadLong(128)).isZero();
  }

  private static void worksWhenReopened(PersistentMemory again) throws IOException {
    again.storeLong(128, 3);
    again.force(0, SIZE);
  }

  private <M> WriteBack.Force<M> failingOnce() {
    return (medium, position, length) -> {
      if (failing) {
        failing = false;
        throw new IOException("staged");
      }
    };
  }

  private MappedWindows windows() throws IOException {
    try (FileChannel channel = FileChannel.open(file, OPTIONS)) {
      return MappedWindows.map(channel, MapMode.READ_WRITE, SIZE);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
