package io.strata.kafka.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A memory whose stores reach no file: they are kept on the heap, above a memory that is only read,
 * or above zeros. The opening of a pool can be tried out on it.
 *
 * <p>Thread safety: all methods may be called by any thread; one at a time does its work.
 */
public final class OverlayMemory extends MemoryOnFile<OverlayMemory> {
  /** Small: most pages hold one segment's end. Their numbers fit an int up to 32 TiB. */
  private static final int PAGE = 16 << 10;

  private final Optional<PersistentMemory> below;

  @GuardedBy("this")
  private final Map<Integer, byte[]> pages = new HashMap<>();

  /** The pages that are zeros, whatever is below, unless they are among the others. */
  @GuardedBy("this")
  private final BitSet zeros = new BitSet();

  private OverlayMemory(
      Optional<PersistentMemory> below,
      MemoryType type,
      Durability durability,
      Path path,
      long size) {
    super(type, path, size, true, durability, toNoFile(path), Optional.empty());
    this.below = below;
  }

  /** A memory that begins as another one, which it closes. */
  public static OverlayMemory over(PersistentMemory below) {
    return new OverlayMemory(
        Optional.of(below), below.type(), below.durability(), below.path(), below.size());
  }

  /** A memory of zeros, as of a file that is still to be made in a directory that is there. */
  public static OverlayMemory ofNew(MemoryType type, Path file, long size) throws IOException {
    return new OverlayMemory(
        Optional.empty(), type, FileProbe.durabilityOfNew(type, file), file, size);
  }

  private static WriteBack<OverlayMemory> toNoFile(Path path) {
    return WriteBack.ofRanges(path, (memory, position, length) -> {});
  }

  @Override
  OverlayMemory open() {
    return this;
  }

  @Override
  public synchronized void load(long position, ByteBuffer target) throws IOException {
    check(position, target.remaining());
    ByteBuffer filled = target.duplicate();
    for (long at = position; filled.hasRemaining(); ) {
      int length = (int) Math.min(filled.remaining(), PAGE - at % PAGE);
      load(at, filled, length);
      at += length;
    }
    target.position(target.limit());
  }

  /** Loads what is in one page. */
  @GuardedBy("this")
  private void load(long at, ByteBuffer target, int length) throws IOException {
    int page = Math.toIntExact(at / PAGE);
    byte[] stored = pages.get(page);
    if (stored != null) {
      target.put(stored, (int) (at % PAGE), length);
    } else if (zeros.get(page) || below.isEmpty()) {
      target.put(new byte[length]);
    } else {
      ByteBuffer part = target.slice(target.position(), length);
      below.get().load(at, part);
      target.position(target.position() + length);
    }
  }

  @Override
  public long loadLong(long position) throws IOException {
    ByteBuffer word = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    load(position, word);
    return word.getLong(0);
  }

  @Override
  public synchronized void store(long position, ByteBuffer source) throws IOException {
    check(position, source.remaining());
    for (long at = position; source.hasRemaining(); ) {
      int length = (int) Math.min(source.remaining(), PAGE - at % PAGE);
      source.get(page(at), (int) (at % PAGE), length);
      at += length;
    }
  }

  /** The page that a position is in, for a store. */
  @GuardedBy("this")
  private byte[] page(long at) throws IOException {
    int page = Math.toIntExact(at / PAGE);
    byte[] stored = pages.get(page);
    if (stored == null) {
      stored = new byte[PAGE];
      long begin = (long) page * PAGE;
      load(begin, ByteBuffer.wrap(stored), (int) Math.min(PAGE, size - begin));
      pages.put(page, stored);
    }
    return stored;
  }

  @Override
  public void storeAndPersist(long position, ByteBuffer source) throws IOException {
    store(position, source);
  }

  @Override
  public void storeLong(long position, long value) throws IOException {
    ByteBuffer word = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    store(position, word.putLong(0, value));
  }

  @Override
  public synchronized void zero(long position, long length) throws IOException {
    check(position, length);
    long end = position + length;
    for (long at = position; at < end; ) {
      int part = (int) Math.min(end - at, PAGE - at % PAGE);
      if (part == PAGE) {
        int page = Math.toIntExact(at / PAGE);
        pages.remove(page);
        zeros.set(page);
      } else {
        store(at, ByteBuffer.allocate(part));
      }
      at += part;
    }
  }

  @Override
  public void persist(long position, long length) throws IOException {
    check(position, length);
  }

  @Override
  public long transferTo(long position, long count, WritableByteChannel target) throws IOException {
    ByteBuffer piece = ByteBuffer.allocate((int) Math.min(count, PAGE));
    load(position, piece);
    return target.write(piece.flip());
  }

  @Override
  public void close() throws IOException {
    super.close();
    if (below.isPresent()) {
      below.get().close();
    }
  }
}
