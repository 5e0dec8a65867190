package io.strata.kafka.memory.calls;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.util.List;
import java.util.Optional;

/**
 * The one call of libpmem that LLPL has no fast way to: a copy from outside the Java heap.
 *
 * <p>Loading this class loads native code: ask {@link #unavailable} first. Stateless.
 */
public final class LibPmem {
  /** {@code PMEM_F_MEM_NODRAIN}: leaves the fence to a later call. */
  private static final int NO_DRAIN = 1;

  private static final String LIBRARY = "libpmem.so.1";

  /** The libraries that LLPL's own native library is linked to. */
  private static final List<String> NEEDED =
      List.of(LIBRARY, "libpmemobj.so.1", "libpmempool.so.1");

  private LibPmem() {}

  /** Returns why libpmem cannot be used here; empty when it can. Does not throw. */
  public static Optional<String> unavailable() {
    String platform = System.getProperty("os.name", "") + " " + System.getProperty("os.arch", "");
    if (!platform.equals("Linux amd64")) {
      return Optional.of("it needs Linux on x86-64, and this is " + platform);
    }
    return Probe.REASON;
  }

  /** As {@link PmemCalls#copy}, from outside of the Java heap. */
  static void copy(long target, long source, long length, boolean drain) {
    long unused = Calls.pmem_memcpy(target, source, length, flags(drain));
  }

  /** The flags of {@link #copy}. */
  static int flags(boolean drain) {
    return drain ? 0 : NO_DRAIN;
  }

  /** Returns where a function of libpmem is in this process. */
  static long addressOf(String function) {
    return Pointer.nativeValue(NativeLibrary.getInstance(LIBRARY).getFunction(function));
  }

  /** Asks once whether the libraries are there. */
  private static final class Probe {
    static final Optional<String> REASON = missing(NEEDED);
  }

  /** Returns why one of these libraries cannot be loaded; empty when all can. */
  public static Optional<String> missing(List<String> libraries) {
    for (String library : libraries) {
      try {
        NativeLibrary unused = NativeLibrary.getInstance(library);
      } catch (UnsatisfiedLinkError e) {
        return Optional.of(
            """
            %s cannot be loaded: install it (Debian and Ubuntu: libpmem1, libpmemobj1, \
            libpmempool1; Fedora and RHEL: libpmem, libpmemobj, libpmempool). %s\
            """
                .formatted(library, e.getMessage()));
      } catch (LinkageError e) {
        return Optional.of("JNA cannot be loaded: " + e);
      }
    }
    return Optional.empty();
  }

  /** The call as libpmem has it. */
  private static final class Calls {
    static {
      Native.register(Calls.class, LIBRARY);
    }

    private Calls() {}

    @SuppressWarnings("checkstyle:MethodName")
    static native long pmem_memcpy(long target, long source, long length, int flags);
  }
}
