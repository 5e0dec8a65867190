package io.strata.kafka.nio;

import java.nio.file.CopyOption;
import java.nio.file.LinkOption;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;

/** Copy and move options, checked and distinguished as the JDK does. */
record CopyFlags(boolean replace, boolean attributes, boolean atomic, boolean followLinks) {

  /** The JDK's own option for a copy that an interrupt ends; ours always are. */
  private static final String INTERRUPTIBLE = "com.sun.nio.file.ExtendedCopyOption";

  static CopyFlags ofCopy(CopyOption... options) {
    return of(StandardCopyOption.ATOMIC_MOVE, options);
  }

  static CopyFlags ofMove(CopyOption... options) {
    return of(StandardCopyOption.COPY_ATTRIBUTES, options);
  }

  private static CopyFlags of(StandardCopyOption refused, CopyOption... options) {
    Set<CopyOption> set = new HashSet<>(Arrays.asList(options));
    for (CopyOption option : set) {
      Objects.requireNonNull(option, "option");
      if (option == refused || !known(option)) {
        throw new UnsupportedOperationException("Unsupported copy option");
      }
    }
    return new CopyFlags(
        set.contains(StandardCopyOption.REPLACE_EXISTING),
        set.contains(StandardCopyOption.COPY_ATTRIBUTES),
        set.contains(StandardCopyOption.ATOMIC_MOVE),
        !set.contains(LinkOption.NOFOLLOW_LINKS));
  }

  private static boolean known(CopyOption option) {
    return option instanceof StandardCopyOption
        || option == LinkOption.NOFOLLOW_LINKS
        || option.getClass().getName().equals(INTERRUPTIBLE);
  }
}
