package io.strata.kafka.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Tells which of the standard streams are terminals: the JDK tells only whether standard input and
 * output both are, and from release 22 on not even that simply.
 *
 * <p>Thread safety: stateless.
 */
final class Terminal {
  private Terminal() {}

  static boolean isStandardOutput() {
    return isTerminal(1);
  }

  static boolean isStandardError() {
    return isTerminal(2);
  }

  private static boolean isTerminal(int descriptor) {
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException | UnsupportedOperationException e) {
      return false; // No /proc here: rather plain text than escapes in a log file.
    }
  }
}
