package io.strata.kafka.memory;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.Random;

/**
 * A memory with a processor's cache in front of it, for power cuts of a machine that has none (an
 * emulated one): stores go to ordinary memory, loads come from there, and only the 64-byte lines
 * that are persisted reach the real memory. So a missing flush shows.
 *
 * <p>A real cache also writes lines back at any time, in any order. {@link Losses#writeBack} is how
 * often a store is followed by that for some of its lines, the newest of one torn at 8 bytes. To
 * show that a missing flush would be noticed, {@link Losses#forgotten} is how often a persist does
 * nothing.
 *
 * <p>{@link ShadowPatch} puts it around every memory that a broker opens for writing; nothing in
 * the product knows of it.
 *
 * <p>Thread safety: as {@link PersistentMemory} says. Lines go to the real memory under one lock:
 * of two persists of a line, the later must not be overwritten by the earlier.
 */
final class ShadowMemory implements PersistentMemory {
  /** How often, from 0 to 1, lines are written back without being asked for; persists forgotten. */
  record Losses(double writeBack, double forgotten, long seed) {
    static final Losses NONE = new Losses(0, 0, 0);

    /** What the system properties of this JVM say. */
    static Losses ofThisJvm() {
      return new Losses(
          Double.parseDouble(System.getProperty("strata.test.shadow.writeback", "0")),
          Double.parseDouble(System.getProperty("strata.test.shadow.forgotten", "0")),
          Long.getLong("strata.test.shadow.seed", 0));
    }
  }

  private static final boolean AS_DAX = Boolean.getBoolean("strata.test.shadow.dax");
  private static final int LINE = 64;
  private static final int PIECE = 256 << 10;
  private static final VarHandle WORD =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final PersistentMemory real;
  private final ByteBuffer seen;
  private final Losses losses;
  private final Random random;
  private final Object lines = new Object();
  private volatile boolean closed;

  ShadowMemory(PersistentMemory real, Losses losses) throws IOException {
    this.real = real;
    this.losses = losses;
    this.random = new Random(losses.seed());
    this.seen = ByteBuffer.allocateDirect(Math.toIntExact(real.size()));
    real.load(0, seen);
    seen.clear();
  }

  /** What {@link ShadowPatch} makes a broker's {@link MemoryOpener} return. */
  @SuppressWarnings(
      "SystemOut") // the test that cuts the power looks for it, lest a run is without shadow
  static PersistentMemory over(PersistentMemory real) throws IOException {
    if (!real.writable()) {
      return real;
    }
    Losses losses = Losses.ofThisJvm();
    System.out.println("SHADOW over " + real.path() + ": " + losses);
    return new ShadowMemory(real, losses);
  }

  @Override
  public MemoryType type() {
    return real.type();
  }

  /** As the real memory says, or as on DAX, if the test keeps the pool's file from power cuts. */
  @Override
  public Durability durability() {
    return AS_DAX ? Durability.POWER : real.durability();
  }

  @Override
  public Path path() {
    return real.path();
  }

  @Override
  public long size() {
    return real.size();
  }

  @Override
  public boolean writable() {
    return true;
  }

  @Override
  public void load(long position, ByteBuffer target) throws IOException {
    int length = target.remaining();
    check(position, length);
    target.put(target.position(), seen, (int) position, length);
    target.position(target.position() + length);
  }

  @Override
  public long loadLong(long position) throws IOException {
    checkOpen();
    MemoryOnFile.checkWord(position, size());
    return (long) WORD.getAcquire(seen, (int) position);
  }

  @Override
  public void store(long position, ByteBuffer source) throws IOException {
    int length = source.remaining();
    check(position, length);
    seen.put((int) position, source, source.position(), length);
    writeBackSome(position, length);
    source.position(source.position() + length);
  }

  @Override
  public void storeAndPersist(long position, ByteBuffer source) throws IOException {
    int start = source.position();
    store(position, source);
    try {
      persist(position, source.position() - start);
    } catch (IOException e) {
      source.position(start);
      throw e;
    }
  }

  @Override
  public void storeLong(long position, long value) throws IOException {
    checkOpen();
    MemoryOnFile.checkWord(position, size());
    WORD.setRelease(seen, (int) position, value);
    writeBackSome(position, Long.BYTES);
  }

  @Override
  public void zero(long position, long length) throws IOException {
    check(position, length);
    ByteBuffer zeros = ByteBuffer.allocate((int) Math.min(PIECE, length));
    for (long done = 0; done < length; done += zeros.capacity()) {
      int piece = (int) Math.min(zeros.capacity(), length - done);
      seen.put((int) (position + done), zeros, 0, piece);
    }
    writeBackSome(position, length);
  }

  @Override
  public void persist(long position, long length) throws IOException {
    check(position, length);
    if (length == 0 || isOften(losses.forgotten())) {
      return;
    }
    long from = position / LINE * LINE;
    long to = Math.min((position + length + LINE - 1) / LINE * LINE, size());
    synchronized (lines) {
      for (long at = from; at < to; at += PIECE) {
        real.storeAndPersist(at, slice(at, Math.min(PIECE, to - at)));
      }
    }
  }

  @Override
  public void force(long position, long length) throws IOException {
    persist(position, length);
    real.force(position, length);
  }

  @Override
  public long transferTo(long position, long count, WritableByteChannel target) throws IOException {
    check(position, count);
    return target.write(slice(position, Math.min(PIECE, count)));
  }

  @Override
  public void close() throws IOException {
    closed = true;
    real.close();
  }

  /** What a cache does when it has no space: a line goes out, whole or in the middle of a store. */
  private void writeBackSome(long position, long length) throws IOException {
    if (length == 0 || !isOften(losses.writeBack())) {
      return;
    }
    synchronized (lines) {
      long first = position / LINE;
      long count = (position + length - 1) / LINE - first + 1;
      for (long i = 0; i < Math.min(count, 4); i++) {
        long line = (first + (long) (random.nextDouble() * count)) * LINE;
        int words = (int) Math.min(LINE, size() - line) / Long.BYTES;
        int whole = i == 0 ? random.nextInt(words + 1) : words;
        real.store(line, slice(line, (long) whole * Long.BYTES));
      }
    }
  }

  private boolean isOften(double share) {
    if (share == 0) {
      return false;
    }
    synchronized (lines) {
      return random.nextDouble() < share;
    }
  }

  private ByteBuffer slice(long position, long length) {
    return seen.slice((int) position, (int) length).asReadOnlyBuffer();
  }

  private void check(long position, long length) throws IOException {
    checkOpen();
    MemoryOnFile.check(position, length, size());
  }

  private void checkOpen() throws IOException {
    if (closed) {
      throw new ClosedChannelException();
    }
  }
}
