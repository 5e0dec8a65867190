package io.strata.kafka.migration.remote.store.disk;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.migration.remote.store.layout.JsonFile;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Deletions that the store has taken over from Kafka, because a directory or the cold manager,
 * which may have the segment, did not delete it: of a deleted topic Kafka asks once. They are noted
 * durably in the broker's log directories (the file {@code strata-remote-deletions}), one in a line
 * with a checksum; a line that a power failure has torn was not acknowledged, and is skipped.
 *
 * <p>Thread safety: all methods may be called by any thread. A log directory may hang: {@link #add}
 * of a new deletion and {@link #done} of a noted one wait for it, one after the other, and nothing
 * else does.
 */
public final class PendingDeletions {

  static final String FILE = "strata-remote-deletions";

  /** A failed deletion is tried again after so long, and then after twice as long each time. */
  private static final Duration FIRST_WAIT = Duration.ofMinutes(1);

  private static final Duration LONGEST_WAIT = Duration.ofHours(1);

  /** So many bytes are written ahead: some hundred deletions. */
  private static final int RESERVE = 64 << 10;

  private static final Set<StandardOpenOption> CREATE_OR_CHANGE =
      Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);

  private final List<Path> places;

  /** Places that could not be read: what is in them is kept until the next start. */
  private final Set<Path> unread = new HashSet<>();

  /** Is held while the files are changed, and taken before the lock of this object. */
  private final Object files = new Object();

  @GuardedBy("this")
  private final Map<String, Waiting> pending = new LinkedHashMap<>();

  /** A deletion that is not to be tried for so long since a moment. */
  private record Waiting(SegmentInfo segment, long sinceMillis, Duration pause) {
    boolean isDue(long now) {
      return now < sinceMillis || now - sinceMillis >= pause.toMillis(); // A clock was ahead.
    }

    Waiting longer(long now) {
      Duration longer = pause.isZero() ? FIRST_WAIT : pause.multipliedBy(2);
      Duration wait = longer.compareTo(LONGEST_WAIT) < 0 ? longer : LONGEST_WAIT;
      return new Waiting(segment, now, wait);
    }
  }

  private static String line(SegmentInfo segment) {
    ObjectNode document = JsonNodeFactory.instance.objectNode();
    segment.print(document);
    return JsonFile.line(document);
  }

  /**
   * Reads what is noted, in whichever of the places it is.
   *
   * @param places directories of the broker's own; without one nothing is taken over
   */
  public PendingDeletions(List<Path> places) {
    this.places = places;
    for (Path place : places) {
      try {
        Path file = place.resolve(FILE);
        for (String line : Files.readAllLines(file, ISO_8859_1)) {
          Optional<JsonFile> json = JsonFile.parseLine(file.toString(), line);
          if (json.isPresent()) {
            put(SegmentInfo.parse(json.get()));
          }
        }
      } catch (NoSuchFileException e) {
        // It has none.
      } catch (IOException e) {
        // Another has them too, perhaps; this one may have some that are not known.
        unread.add(place);
      }
      reserve(place);
    }
  }

  private synchronized void put(SegmentInfo segment) {
    Waiting unused =
        pending.putIfAbsent(segment.key().id(), new Waiting(segment, 0, Duration.ZERO));
  }

  /** Takes a deletion over if it can be noted durably; otherwise Kafka has to repeat it. */
  public boolean add(SegmentInfo segment) {
    if (has(segment)) {
      return true;
    }
    synchronized (files) {
      return has(segment) || isNoted(segment);
    }
  }

  @GuardedBy("files")
  private boolean isNoted(SegmentInfo segment) {
    boolean noted = false;
    for (Path place : places) {
      try {
        // A line that a power failure has torn ends here too.
        write(place, "\n" + line(segment) + "\n", Long.MAX_VALUE);
        noted = true;
      } catch (IOException e) {
        // A log directory may fail; another has it.
      }
    }
    if (noted) {
      put(segment);
    }
    return noted;
  }

  /**
   * Writes behind the last line, over the blank lines that are there ahead.
   *
   * @param blank nothing is written if so many of them are there
   */
  private static void write(Path place, String text, long blank) throws IOException {
    Path file = place.resolve(FILE);
    boolean isNew = !FileStatus.isThere(file);
    try (FileChannel channel = FileChannel.open(file, CREATE_OR_CHANGE)) {
      long used = used(channel);
      if (channel.size() - used < blank) {
        FileChannel unused = channel.position(used);
        Disk.writeFully(channel, ByteBuffer.wrap(text.getBytes(UTF_8)));
        channel.force(true);
      }
    }
    if (isNew) {
      Disk.forceDirectory(place);
    }
  }

  /**
   * Returns where the blank lines begin that a file ends with: never more than are written ahead,
   * behind the end of a line.
   */
  private static long used(FileChannel channel) throws IOException {
    ByteBuffer end = ByteBuffer.allocate((int) Math.min(channel.size(), RESERVE + 2));
    long used = channel.size();
    Disk.readFully(channel, end, used - end.capacity());
    for (int i = end.limit() - 1; i >= 0 && end.get(i) == '\n'; i--) {
      used--;
    }
    return used;
  }

  /**
   * Writes blank lines ahead, if there is space: a directory that is away for long lets the log
   * disk fill up, and then a topic is deleted to make space.
   */
  private static void reserve(Path place) {
    try {
      write(place, "\n".repeat(RESERVE), RESERVE / 2);
    } catch (IOException e) {
      // An addition may find space, or fails.
    }
  }

  public synchronized boolean has(SegmentInfo segment) {
    return pending.containsKey(segment.key().id());
  }

  synchronized List<SegmentInfo> all() {
    return pending.values().stream().map(Waiting::segment).toList();
  }

  /** The deletions that are to be tried now. */
  public synchronized List<SegmentInfo> due(long nowMillis) {
    return pending.values().stream()
        .filter(waiting -> waiting.isDue(nowMillis))
        .map(Waiting::segment)
        .toList();
  }

  /** It could not be done: it is due again later. */
  public synchronized void failed(SegmentInfo segment, long nowMillis) {
    Waiting unused =
        pending.computeIfPresent(segment.key().id(), (id, waiting) -> waiting.longer(nowMillis));
  }

  /** These are done. A place that cannot be written has them still, and they are done again. */
  public void done(List<SegmentInfo> segments) {
    if (remove(segments)) {
      synchronized (files) {
        writeAll();
      }
    }
  }

  private synchronized boolean remove(List<SegmentInfo> segments) {
    return pending.keySet().removeAll(segments.stream().map(s -> s.key().id()).toList());
  }

  @GuardedBy("files")
  private void writeAll() {
    String left = all().stream().map(s -> line(s) + "\n").collect(Collectors.joining());
    for (Path place : places) {
      try {
        if (!unread.contains(place)) {
          Disk.replace(place.resolve(FILE), left.getBytes(UTF_8));
          reserve(place);
        }
      } catch (IOException e) {
        // They are done once more after a restart, to no effect.
      }
    }
  }
}
