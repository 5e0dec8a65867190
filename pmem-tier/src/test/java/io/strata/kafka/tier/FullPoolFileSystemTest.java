package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.memory.PoolFiles;
import io.strata.kafka.pool.words.PoolException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A pool on a file system that others have filled: its own blocks are there, and it starts. */
final class FullPoolFileSystemTest {

  private static final byte[] BATCHES = Batches.of(100_000, 1);
  private static final int SIZE = 8 << 20;

  @TempDir private Path root;
  private LoopMount disk;
  private TierFixture fixture;
  private Path pool;
  private Path filling;
  private Path segment;

  @BeforeEach
  void closeAPoolWithASegment() throws IOException, InterruptedException {
    disk = LoopMount.of(root, "ext4", 32);
    filling = disk.directory().resolve("filling");
    pool = disk.directory().resolve("a.pool");
    fixture =
        new TierFixture(Files.createDirectory(root.resolve("live"))).pool(pool.toString(), SIZE);
    fixture.open();
    segment = fixture.segment("orders-0", 0);
    fixture.append(segment, BATCHES);
    fixture.close();
  }

  @AfterEach
  void close() throws IOException {
    fixture.close();
    disk.close();
  }

  private void fill() throws IOException {
    for (int length = 1 << 20; length > 0; length /= 2) {
      try {
        while (true) {
          Files.write(
              filling, new byte[length], StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
      } catch (IOException full) {
        assertThat(full).hasMessageContaining("No space left");
      }
    }
  }

  @Test
  void aPoolIsLockedWithoutSpace() throws IOException {
    fill();
    fixture.open();
    assertThat(fixture.read(segment)).isEqualTo(BATCHES);
  }

  @Test
  void holesAreRefusedUntilThereIsSpaceForThem() throws IOException {
    try (RandomAccessFile hole = new RandomAccessFile(pool.toFile(), "rw")) {
      hole.setLength(SIZE - (1 << 20));
      hole.setLength(SIZE);
    }
    fill();
    assertThatThrownBy(fixture::open)
        .isInstanceOfSatisfying(
            PoolException.class, e -> assertThat(e.kind()).isEqualTo(PoolException.Kind.SPARSE))
        .hasMessageContainingAll(
            "pool " + pool, "bytes allocated, expected all " + SIZE, "usable", "free space");
    Files.delete(filling);
    fixture.open();
    assertThat(PoolFiles.allocatedBytes(pool).orElseThrow()).isGreaterThanOrEqualTo(SIZE);
    assertThat(fixture.read(segment)).isEqualTo(BATCHES);
  }
}
