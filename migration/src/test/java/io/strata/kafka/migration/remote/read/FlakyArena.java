package io.strata.kafka.migration.remote.read;

import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.Random;

/** An arena whose frames are taken away at random, as a pool does that needs the space. */
final class FlakyArena implements ChunkArena {

  private final ChunkArena real;
  private final Random random;
  private final int oneIn;

  FlakyArena(ChunkArena real, long seed, int oneIn) {
    this.real = real;
    random = new Random(seed);
    this.oneIn = oneIn;
  }

  private synchronized boolean strikes() {
    return random.nextInt(oneIn) == 0;
  }

  @Override
  public long capacityBytes() {
    return real.capacityBytes();
  }

  @Override
  public long usedBytes() {
    return real.usedBytes();
  }

  @Override
  public Optional<Frame> store(ChunkKey key, ByteBuffer bytes) {
    return strikes() ? Optional.empty() : real.store(key, bytes).map(FlakyFrame::new);
  }

  @Override
  public void close() {
    real.close();
  }

  private final class FlakyFrame implements Frame {
    private final Frame frame;

    FlakyFrame(Frame frame) {
      this.frame = frame;
    }

    @Override
    public ChunkKey key() {
      return frame.key();
    }

    @Override
    public int bytes() {
      return frame.bytes();
    }

    @Override
    public boolean read(int offset, ByteBuffer target) {
      if (strikes()) {
        frame.release();
        int at = target.position();
        while (target.hasRemaining()) {
          target.put((byte) 0x55); // Undefined is undefined.
        }
        target.position(at);
        return false;
      }
      return frame.read(offset, target);
    }

    @Override
    public boolean gone() {
      return frame.gone();
    }

    @Override
    public void release() {
      frame.release();
    }
  }
}
