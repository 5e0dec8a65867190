package io.strata.kafka.migration.remote.store;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Keeps the brokers together within the capacity of a directory. Each notes there, before it
 * writes, how much it is about to write ({@code brokers/3.space}), and then looks at the others'
 * notes: a listing tells of their segments only later.
 *
 * <p>A note has two sums of one process: what it has begun to write, and what of that has come to
 * its end. What had ended before a listing began was seen by it; the rest of what was begun is
 * counted on top.
 *
 * <p>The note of a broker that never comes back says for ever that it is about to write: one counts
 * only while its broker is there, by the times of the files, which one file system has dated.
 *
 * <p>The notes are not forced: after a power cut nobody is at work.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class SharedSpace {

  private static final int VERSION = 1;
  private static final String SUFFIX = ".space";

  /** A broker that is there signs in far more often. */
  private static final Duration GONE = Duration.ofHours(1);

  private final int brokerId;
  private final String process;

  private final Map<StoreDirectory, Own> own = new ConcurrentHashMap<>();

  /** The others' notes before a listing that has ended; empty for a directory not listed yet. */
  @GuardedBy("this")
  private final Map<StoreDirectory, Map<String, Note>> listed = new HashMap<>();

  /** One broker's. */
  record Note(String process, long begun, long ended) {}

  /** This broker's, in one directory; its monitor is held while it is written there. */
  private static final class Own {
    private final AtomicLong begun = new AtomicLong();
    private final AtomicLong ended = new AtomicLong();
  }

  SharedSpace(int brokerId, String process) {
    this.brokerId = brokerId;
    this.process = process;
  }

  /** Counts what is about to be written; does no I/O: the next note says it. */
  void begin(StoreDirectory directory, long bytes) {
    long unused = own(directory).begun.addAndGet(bytes);
  }

  /** Counts that they have been written, or will not be; does no I/O: the next note says it. */
  void end(StoreDirectory directory, long bytes) {
    long unused = own(directory).ended.addAndGet(bytes);
  }

  private Own own(StoreDirectory directory) {
    return own.computeIfAbsent(directory, d -> new Own());
  }

  /** Notes in the directory what was counted. */
  void note(StoreDirectory directory) throws IOException {
    Own sums = own(directory);
    // Of this directory alone: it may hang.
    synchronized (sums) {
      write(directory, sums.begun.get(), sums.ended.get());
    }
  }

  private void write(StoreDirectory directory, long begun, long ended) throws IOException {
    ObjectNode document = JsonFile.object();
    document.put("formatVersion", VERSION);
    document.put("process", process);
    document.put("begunBytes", begun);
    document.put("endedBytes", ended);
    Path brokers = directory.path().resolve(StoreNames.BROKERS);
    Path file = brokers.resolve(brokerId + SUFFIX);
    Path part = brokers.resolve(brokerId + SUFFIX + StoreNames.PART);
    try (FileChannel channel =
        FileChannel.open(
            part,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      Disk.writeFully(channel, ByteBuffer.wrap(JsonFile.print(document)));
    }
    Path unused = Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
  }

  /**
   * The notes of the other brokers that are there, by the names of their files; what cannot be read
   * is left out.
   */
  Map<String, Note> others(StoreDirectory directory) throws IOException {
    Map<String, Note> notes = new HashMap<>();
    OptionalLong now = StoreUpkeep.signedIn(directory, String.valueOf(brokerId));
    for (Path file : StoreListing.entries(directory.path().resolve(StoreNames.BROKERS))) {
      String name = StoreListing.name(file);
      if (name.endsWith(SUFFIX)
          && !name.equals(brokerId + SUFFIX)
          && !(now.isPresent() && isGone(directory, file, now.getAsLong()))) {
        try {
          ObjectNode document = JsonFile.read(file);
          JsonFile.checkVersion(name, document, VERSION);
          notes.put(
              name,
              new Note(
                  JsonFile.text(name, document, "process"),
                  JsonFile.number(name, document, "begunBytes"),
                  JsonFile.number(name, document, "endedBytes")));
        } catch (CorruptManifestException | NoSuchFileException e) {
          notes.remove(name); // A power failure; its broker writes it again.
        }
      }
    }
    return notes;
  }

  /**
   * Whether a broker has neither noted anything nor signed in for long.
   *
   * @param now when this broker last signed in
   */
  private static boolean isGone(StoreDirectory directory, Path note, long now) throws IOException {
    String name = StoreListing.name(note);
    OptionalLong signedIn =
        StoreUpkeep.signedIn(directory, name.substring(0, name.length() - SUFFIX.length()));
    return isLongAgo(Disk.lastModified(note), now) && isLongAgo(signedIn, now);
  }

  /** Or in the future: a clock was ahead. */
  private static boolean isLongAgo(OptionalLong millis, long now) {
    return millis.isEmpty() || Math.abs(now - millis.getAsLong()) > GONE.toMillis();
  }

  /** A listing has ended that began after the others' notes were read. */
  synchronized void listed(StoreDirectory directory, Map<String, Note> before) {
    listed.put(directory, Map.copyOf(before));
  }

  /** What the others have written, or are about to, that no listing has seen. */
  long unseen(StoreDirectory directory) throws IOException {
    Map<String, Note> now = others(directory);
    long unseen = 0;
    synchronized (this) {
      Map<String, Note> before = listed.get(directory);
      if (before == null) {
        return 0; // Not known at all yet.
      }
      for (Map.Entry<String, Note> entry : now.entrySet()) {
        Note note = entry.getValue();
        Note then = before.get(entry.getKey());
        long seen = then != null && then.process().equals(note.process()) ? then.ended() : 0;
        unseen += Math.max(0, note.begun() - seen);
      }
    }
    return unseen;
  }
}
