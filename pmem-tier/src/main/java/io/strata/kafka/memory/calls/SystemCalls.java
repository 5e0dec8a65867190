package io.strata.kafka.memory.calls;

import java.util.Optional;

/** Says whether Strata can make the system calls that the JDK does not offer. Stateless. */
public final class SystemCalls {

  private SystemCalls() {}

  /**
   * Returns why they cannot be made, and what to do; empty where they can, and on systems that do
   * not have them.
   */
  public static Optional<String> missing() {
    return LibC.missing()
        .map(
            why ->
                """
                Strata cannot make system calls (%s), and does without: it writes the blocks of a \
                new pool instead of allocating them, does not see holes in a pool, does not load \
                the pages of a pool ahead, and has no pool of type pmem. JNA unpacks its library \
                to ~/.cache/JNA or java.io.tmpdir: if they are missing, read-only or mounted \
                noexec, start the JVM with -Djna.tmpdir=<a directory that its user may write to, \
                on a file system without noexec>\
                """
                    .formatted(why));
  }
}
