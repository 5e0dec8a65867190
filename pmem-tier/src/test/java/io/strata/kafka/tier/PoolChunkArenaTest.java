package io.strata.kafka.tier;

import io.strata.kafka.migration.remote.read.ChunkArena;
import io.strata.kafka.migration.remote.read.ChunkArenaContract;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** The arena in a pool keeps to what every arena keeps to. */
class PoolChunkArenaTest extends ChunkArenaContract {

  @TempDir private Path temp;
  private TierFixture fixture;

  @BeforeEach
  void open() throws IOException {
    fixture = new TierFixture(temp).pool("strata.pool", 16L << 20);
    fixture.open();
  }

  @AfterEach
  void close() throws IOException {
    fixture.close();
  }

  @Override
  protected ChunkArena newArena(long capacityBytes, int frameBytes) {
    return fixture.tier().spareRoom(capacityBytes, frameBytes).orElseThrow();
  }
}
