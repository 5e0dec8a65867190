package io.strata.kafka.memory.calls;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * The calls of an append by the foreign functions of JDK 22 and later: a copy straight from the
 * Java heap, and a flush.
 *
 * <p>A call keeps its thread in Java code: no array moves meanwhile, and nothing is copied or
 * pinned for it. A safepoint waits for such a call, so that a piece has at most {@value #MAX_PIECE}
 * bytes. A source that is not an array goes the way of older JDKs: it may be a mapping, which no
 * native code reads.
 *
 * <p>The interfaces are looked up, not compiled against: what the tests run is then what the jar
 * has. See docs/adr/0024-foreign-functions-are-looked-up.md.
 *
 * <p>Thread safety: as {@link PmemCalls} says.
 */
public final class ForeignPmem implements PmemCalls {
  /** In bytes: tens of microseconds on the slowest medium. */
  private static final int MAX_PIECE = 64 << 10;

  /** The first JDK whose foreign functions take arrays of the heap. */
  private static final int FIRST_JDK = 22;

  /**
   * Constants, so that compiled code has the calls and nothing else. Without effect where they
   * cannot be made.
   */
  private static final MethodHandle COPY;

  private static final MethodHandle PERSIST;
  private static final boolean AVAILABLE;

  static {
    Optional<Calls> bound = bind();
    Calls calls = bound.orElseGet(Calls::none);
    COPY = calls.copy;
    PERSIST = calls.persist;
    AVAILABLE = bound.isPresent();
  }

  private final PmemCalls other;

  /** Where each window of the pool begins. */
  private final long[] addresses;

  /**
   * For one pool.
   *
   * @param other takes what these calls do not
   * @param addresses where each window of the pool's mapping begins
   */
  public ForeignPmem(PmemCalls other, long[] addresses) {
    this.other = other;
    this.addresses = addresses.clone();
  }

  /**
   * Returns whether the calls can be made here. Needs libpmem: ask {@link LibPmem#unavailable}
   * before. Does not throw.
   */
  public static boolean available() {
    return AVAILABLE;
  }

  @Override
  public int maxPiece() {
    return MAX_PIECE;
  }

  @Override
  public void copy(long target, ByteBuffer source, int start, int length, boolean drain) {
    if (source.hasArray()) {
      copy(target, source.array(), (long) source.arrayOffset() + start, length, drain);
      return;
    }
    for (int done = 0; done < length; ) {
      int piece = Math.min(other.maxPiece(), length - done);
      long to = target + done;
      int from = start + done;
      done += piece;
      other.copy(to, source, from, piece, drain && done == length);
    }
  }

  private static void copy(long target, byte[] source, long offset, long length, boolean drain) {
    try {
      long unused = (long) COPY.invokeExact(target, source, offset, length, LibPmem.flags(drain));
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  @Override
  public void persist(long position, long length) {
    if (length > MAX_PIECE) {
      other.persist(position, length);
      return;
    }
    try {
      PERSIST.invokeExact(MappedWindows.address(addresses, position), length);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  private static LinkageError unexpected(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return new LinkageError("A call of libpmem failed", e);
  }

  /** Empty on an older JDK, and where native access is denied: JNA's calls do the same. */
  private static Optional<Calls> bind() {
    if (Runtime.version().feature() < FIRST_JDK) {
      return Optional.empty();
    }
    try {
      return Optional.of(new Binding().calls());
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      return Optional.empty();
    }
  }

  /**
   * The calls.
   *
   * @param copy {@code long (long target, byte[] source, long offset, long length, int flags)}
   * @param persist {@code void (long address, long length)}
   */
  private record Calls(MethodHandle copy, MethodHandle persist) {
    static Calls none() {
      return new Calls(
          MethodHandles.empty(
              MethodType.methodType(
                  long.class, long.class, byte[].class, long.class, long.class, int.class)),
          MethodHandles.empty(MethodType.methodType(void.class, long.class, long.class)));
    }
  }

  /** Package java.lang.foreign, by its names. */
  private static final class Binding {
    private final Class<?> segment = type("MemorySegment");
    private final Class<?> layout = type("MemoryLayout");
    private final Class<?> descriptor = type("FunctionDescriptor");
    private final Class<?> linker = type("Linker");
    private final Class<?> option = type("Linker$Option");

    Binding() throws ReflectiveOperationException {}

    Calls calls() throws ReflectiveOperationException {
      Object word = layoutNamed("JAVA_LONG");
      Object address = layoutNamed("ADDRESS");
      Object number = layoutNamed("JAVA_INT");
      Object copies =
          descriptor
              .getMethod("of", layout, layout.arrayType())
              .invoke(null, word, array(layout, word, address, word, number));
      Object persists =
          descriptor
              .getMethod("ofVoid", layout.arrayType())
              .invoke(null, array(layout, word, word));
      return new Calls(
          MethodHandles.collectArguments(call("pmem_memcpy", copies, true), 1, pieceOfArray()),
          call("pmem_persist", persists, false));
    }

    /** {@code Linker.nativeLinker().downcallHandle(function, signature, critical(fromHeap))}. */
    private MethodHandle call(String name, Object signature, boolean fromHeap)
        throws ReflectiveOperationException {
      Object function =
          segment.getMethod("ofAddress", long.class).invoke(null, LibPmem.addressOf(name));
      Object critical = option.getMethod("critical", boolean.class).invoke(null, fromHeap);
      return (MethodHandle)
          linker
              .getMethod("downcallHandle", segment, descriptor, option.arrayType())
              .invoke(
                  linker.getMethod("nativeLinker").invoke(null),
                  function,
                  signature,
                  array(option, critical));
    }

    /** {@code (array, offset) -> MemorySegment.ofArray(array).asSlice(offset)}. */
    private MethodHandle pieceOfArray() throws ReflectiveOperationException {
      MethodHandles.Lookup lookup = MethodHandles.publicLookup();
      return MethodHandles.collectArguments(
          lookup.findVirtual(segment, "asSlice", MethodType.methodType(segment, long.class)),
          0,
          lookup.findStatic(segment, "ofArray", MethodType.methodType(segment, byte[].class)));
    }

    private static Object array(Class<?> type, Object... elements) {
      Object array = Array.newInstance(type, elements.length);
      for (int i = 0; i < elements.length; i++) {
        Array.set(array, i, elements[i]);
      }
      return array;
    }

    private static Object layoutNamed(String name) throws ReflectiveOperationException {
      return type("ValueLayout").getField(name).get(null);
    }

    private static Class<?> type(String name) throws ClassNotFoundException {
      return Class.forName("java.lang.foreign." + name);
    }
  }
}
