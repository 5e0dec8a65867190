package io.strata.kafka.nio;

import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/** Open options, checked and distinguished as the JDK does. */
final class SegmentOpenOptions {

  private SegmentOpenOptions() {}

  /** Options of an input stream. */
  static Set<OpenOption> reading(OpenOption... options) {
    Set<OpenOption> set = new HashSet<>(Arrays.asList(options));
    set.add(StandardOpenOption.READ);
    return set;
  }

  /** Options of an output stream. */
  static Set<OpenOption> writing(OpenOption... options) {
    Set<OpenOption> set =
        new HashSet<>(
            options.length > 0
                ? Arrays.asList(options)
                : List.of(StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING));
    set.add(StandardOpenOption.WRITE);
    return set;
  }

  /** Returns whether the options are ones that the JDK accepts together, whatever the file. */
  static boolean valid(Set<? extends OpenOption> options) {
    boolean append = options.contains(StandardOpenOption.APPEND);
    return !(append
        && (options.contains(StandardOpenOption.READ)
            || options.contains(StandardOpenOption.TRUNCATE_EXISTING)));
  }

  /** Options that a hot segment cannot honour: direct I/O, say, and deletion on close. */
  static boolean supported(Set<? extends OpenOption> options) {
    for (OpenOption option : options) {
      Objects.requireNonNull(option, "option");
      if (option == StandardOpenOption.DELETE_ON_CLOSE
          || !(option instanceof StandardOpenOption || option == LinkOption.NOFOLLOW_LINKS)) {
        return false;
      }
    }
    return true;
  }

  /**
   * The options that have a meaning for a file that links have been followed to: one that is only
   * read is neither created nor truncated.
   */
  static Set<OpenOption> effective(Set<? extends OpenOption> options) {
    Set<OpenOption> effective = new HashSet<>(options);
    effective.remove(LinkOption.NOFOLLOW_LINKS);
    if (!writes(options)) {
      effective.remove(StandardOpenOption.CREATE);
      effective.remove(StandardOpenOption.CREATE_NEW);
      effective.remove(StandardOpenOption.TRUNCATE_EXISTING);
      effective.add(StandardOpenOption.READ);
    }
    return effective;
  }

  /** Returns whether an open with these options follows a symbolic link in the last name. */
  static boolean followsLinks(Set<? extends OpenOption> options) {
    boolean createsNew = writes(options) && options.contains(StandardOpenOption.CREATE_NEW);
    return !createsNew && !options.contains(LinkOption.NOFOLLOW_LINKS);
  }

  /** Returns whether an open with these options may create the file, as Kafka creates a segment. */
  static boolean creates(Set<? extends OpenOption> options) {
    return writes(options)
        && !options.contains(LinkOption.NOFOLLOW_LINKS)
        && (options.contains(StandardOpenOption.CREATE)
            || options.contains(StandardOpenOption.CREATE_NEW));
  }

  /** Returns whether a channel that is opened so may write. */
  static boolean writes(Set<? extends OpenOption> options) {
    return options.contains(StandardOpenOption.WRITE)
        || options.contains(StandardOpenOption.APPEND);
  }
}
