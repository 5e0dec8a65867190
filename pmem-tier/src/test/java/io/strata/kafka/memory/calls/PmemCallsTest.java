package io.strata.kafka.memory.calls;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.MadeFile;
import io.strata.kafka.memory.PersistentMemory;
import io.strata.kafka.memory.PmemMemory;
import io.strata.kafka.memory.WriteBack;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store asks libpmem for a fence at its end: without that nothing is durable. */
class PmemCallsTest {
  private static final int PIECE = 1000;
  private static final int SIZE = 1 << 20;

  @TempDir Path directory;

  private final List<String> asked = new ArrayList<>();

  @BeforeEach
  void needsLibpmem() {
    LibPmem.unavailable().ifPresent(Assumptions::abort);
  }

  @Test
  void theLastPieceOfAStoreIsFencedAndNoOther() throws IOException {
    memory().store(4096, ByteBuffer.allocate(2500).position(100));
    assertThat(asked)
        .containsExactly(
            "copy 100 to 4096, 1000 bytes",
            "copy 1100 to 5096, 1000 bytes",
            "copy 2100 to 6096, 400 bytes, fence");
  }

  @Test
  void aStoreOfOnePieceIsFenced() throws IOException {
    memory().store(0, ByteBuffer.allocate(PIECE));
    assertThat(asked).containsExactly("copy 0 to 0, 1000 bytes, fence");
  }

  @Test
  void aPersistFlushesTheWholeRange() throws IOException {
    memory().persist(8, SIZE - 8);
    assertThat(asked).containsExactly("flush 8, 1048568 bytes");
  }

  @Test
  void theForeignCallsPassOnWhatIsNoArrayInPiecesAndFenceTheLast() throws IOException {
    Assumptions.assumeTrue(ForeignPmem.available());
    MappedWindows windows = windows();
    PmemCalls foreign = new ForeignPmem(new Recorded(windows.addresses()), windows.addresses());
    ByteBuffer direct = ByteBuffer.allocateDirect(2500);
    foreign.copy(windows.addresses()[0], direct, 0, 1500, false);
    foreign.copy(windows.addresses()[0] + 4096, direct.asReadOnlyBuffer(), 500, 2000, true);
    foreign.persist(0, SIZE);
    assertThat(asked)
        .containsExactly(
            "copy 0 to 0, 1000 bytes",
            "copy 1000 to 1000, 500 bytes",
            "copy 500 to 4096, 1000 bytes",
            "copy 1500 to 5096, 1000 bytes, fence",
            "flush 0, 1048576 bytes");
  }

  /** On a newer JDK the quick way is not missed without a word. */
  @Test
  void theForeignCallsAreThereFromJdk22On() {
    assertThat(ForeignPmem.available()).isEqualTo(Runtime.version().feature() >= 22);
  }

  private PersistentMemory memory() throws IOException {
    MappedWindows windows = windows();
    return new PmemMemory(
        directory.resolve("pool"),
        SIZE,
        Durability.POWER,
        windows,
        WriteBack.ofRanges(directory, (open, position, length) -> {}),
        Optional.of(new Recorded(windows.addresses())),
        Optional.empty());
  }

  private MappedWindows windows() throws IOException {
    Path file = directory.resolve("pool");
    MadeFile.of(file, SIZE);
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return MappedWindows.map(channel, MapMode.READ_WRITE, SIZE);
    }
  }

  /** Notes what is asked. */
  private final class Recorded implements PmemCalls {
    private final long start;

    Recorded(long[] addresses) {
      this.start = addresses[0];
    }

    @Override
    public int maxPiece() {
      return PIECE;
    }

    @Override
    public void copy(long target, ByteBuffer source, int from, int length, boolean drain) {
      asked.add(
          "copy %d to %d, %d bytes%s"
              .formatted(from, target - start, length, drain ? ", fence" : ""));
    }

    @Override
    public void persist(long position, long length) {
      asked.add("flush %d, %d bytes".formatted(position, length));
    }
  }
}
