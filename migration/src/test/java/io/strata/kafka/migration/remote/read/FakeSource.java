package io.strata.kafka.migration.remote.read;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

/** A segment in memory that can be slow, wrong, or not there. */
final class FakeSource implements ChunkSource {

  /** What a read meets before it has its bytes. */
  @FunctionalInterface
  interface Obstacle {
    void meet(int first, int count) throws IOException, InterruptedException;

    /** None. */
    Obstacle NONE = (first, count) -> {};
  }

  private final long id;
  private final byte[] stored;
  private final int chunkBytes;
  private final int[] checksums;
  final List<Integer> reads = Collections.synchronizedList(new ArrayList<>());
  final AtomicInteger bytesRead = new AtomicInteger();
  volatile Obstacle obstacle = Obstacle.NONE;
  volatile Optional<ChunkSource> next = Optional.empty();
  volatile int chunksAtOnce = 1;

  FakeSource(long id, int bytes, int chunkBytes) {
    this.id = id;
    this.chunkBytes = chunkBytes;
    stored = new byte[bytes];
    new Random(id).nextBytes(stored);
    checksums = new int[Chunks.count(this)];
    for (int i = 0; i < checksums.length; i++) {
      checksums[i] =
          Chunks.crc32c(ByteBuffer.wrap(stored, i * chunkBytes, Chunks.length(this, i)).slice());
    }
  }

  byte[] content() {
    return stored;
  }

  /** Changes a bit of what is stored; twice is as before. */
  void flip(int at) {
    stored[at] ^= 0x10;
  }

  @Override
  public String describe() {
    return "orders-3@4711 (/ssd/a/" + id + ".log)";
  }

  @Override
  public ChunkKey key(int chunk) {
    return new ChunkKey(id, ~id, chunk);
  }

  @Override
  public long bytes() {
    return stored.length;
  }

  @Override
  public int chunkBytes() {
    return chunkBytes;
  }

  @Override
  public int checksum(int chunk) {
    return checksums[chunk];
  }

  @Override
  public void read(int first, ByteBuffer target) throws IOException, InterruptedException {
    int count = (target.remaining() + chunkBytes - 1) / chunkBytes;
    for (int i = 0; i < count; i++) {
      reads.add(first + i);
    }
    obstacle.meet(first, count);
    int unused = bytesRead.addAndGet(target.remaining());
    target.put(stored, first * chunkBytes, target.remaining());
  }

  @Override
  public int chunksAtOnce() {
    return chunksAtOnce;
  }

  @Override
  public Optional<ChunkSource> next() {
    return next;
  }
}
