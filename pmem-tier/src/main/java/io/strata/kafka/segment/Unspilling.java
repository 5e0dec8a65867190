package io.strata.kafka.segment;

import io.strata.kafka.pool.space.Extent;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.segment.view.HotView;
import io.strata.kafka.segment.view.Residence;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Has the new bytes of a spilled segment go to its pool again. The log file is forced while appends
 * go on; what they have added since is copied into the pool under the writer lock, so that no
 * append waits for the log file's device.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
final class Unspilling {

  /** How much is copied under the writer lock at most, in bytes: some milliseconds. */
  private static final long LONGEST_COPY = 1 << 20;

  /** Appends may add more than that during a force; the next one takes less time. */
  private static final int ATTEMPTS = 4;

  private final Segment segment;
  private final SegmentWriter writer;

  Unspilling(Segment segment, SegmentWriter writer) {
    this.segment = segment;
    this.writer = writer;
  }

  /** A segment that can be unspilled, as it is before its log file is forced. */
  private record Begun(Residence in, long changes, long size) {}

  /** How far an attempt has come. */
  private enum Step {
    DONE,
    AGAIN,
    NO_SPACE
  }

  /** See {@link Segment#unspill}. */
  boolean run(FileChannel logFile, Segment.LogFileForce force) throws IOException {
    // Not under the writer lock, where there may be no memory for it.
    ByteBuffer buffer = Copying.buffer(LONGEST_COPY);
    Step step = Step.AGAIN;
    for (int i = 0; i < ATTEMPTS && step == Step.AGAIN; i++) {
      Optional<Begun> begun = writer.exclusively(this::begin);
      if (begun.isEmpty()) {
        return false;
      }
      force.run();
      // Little is left to be forced under the writer lock.
      begun.get().in().slot().force();
      step = attempt(begun.get(), logFile, buffer);
    }
    return step == Step.DONE;
  }

  private Step attempt(Begun begun, FileChannel logFile, ByteBuffer buffer) throws IOException {
    List<Extent> dropped = new ArrayList<>();
    try {
      return writer.exclusively(() -> end(begun, logFile, buffer, dropped));
    } finally {
      // Some pools make them zeros first.
      long unused = writer.releaseEvicted(begun.in().pool(), dropped, false);
    }
  }

  private Optional<Begun> begin() {
    HotView view = writer.view();
    return writer
        .residence()
        .filter(in -> writer.movable() && view.spilled() && in.isClean())
        .map(in -> new Begun(in, writer.guard().changes(), view.size()));
  }

  private Step end(Begun begun, FileChannel logFile, ByteBuffer buffer, List<Extent> dropped)
      throws IOException {
    Optional<Begun> now = begin();
    if (now.isEmpty()
        || now.get().changes() != begun.changes()
        || now.get().size() - begun.size() > LONGEST_COPY) {
      return Step.AGAIN;
    }
    Residence in = begun.in();
    long size = now.get().size();
    boolean none = in.slot().extents().count() == 0;
    // The bytes that were appended since the log file was forced are copied.
    long from = begun.size();
    beginAt(from, in, size, dropped);
    if (!none) {
      // Its former extents are free when the last reader has left them, and may be needed.
      return Step.AGAIN;
    }
    if (!writer.extentsForLocked(size)) {
      changeSlot(in, slot -> dropped.addAll(slot.truncate(from)));
      return Step.NO_SPACE;
    }
    copy(logFile, from, size, in, buffer);
    changeSlot(
        in,
        slot -> {
          // Acknowledged in the log file, and forced there, perhaps.
          slot.commitForced(size);
          slot.clear(SlotFlag.SPILLED);
        });
    writer.publish(Optional.of(in), HotView.inPool(in.bytes(), in.slot().extents(), size));
    return Step.DONE;
  }

  /** See {@link Segment#enter}. */
  boolean enter(Residence to, Segment.Link link) throws IOException {
    Optional<Begun> begun = writer.exclusively(() -> beginToEnter(to));
    if (begun.isEmpty()) {
      return false;
    }
    to.slot().set(SlotFlag.SPILLED);
    List<Extent> none = to.slot().beginAt(begun.get().size());
    boolean done;
    try {
      link.link();
      done = none.isEmpty() && writer.exclusively(() -> endOfEntering(begun.get(), to));
    } catch (IOException | RuntimeException | Error e) {
      try {
        link.unlink();
      } catch (IOException | RuntimeException | Error f) {
        // The file has a tag of a slot without bytes: the next start settles that.
        e.addSuppressed(f);
      }
      throw e;
    }
    if (!done) {
      link.unlink();
    }
    return done;
  }

  private Optional<Begun> beginToEnter(Residence to) {
    return writer.movable() && writer.residence().isEmpty()
        ? Optional.of(new Begun(to, writer.guard().changes(), writer.view().size()))
        : Optional.empty();
  }

  private boolean endOfEntering(Begun begun, Residence to) {
    Optional<Begun> now = beginToEnter(to);
    if (now.isEmpty() || now.get().changes() != begun.changes()) {
      return false;
    }
    writer.publish(
        Optional.of(to),
        HotView.spilled(to.bytes(), to.slot().extents(), begun.size(), now.get().size()));
    return true;
  }

  /** Shows readers the log file alone, which has been forced up to {@code forced}. */
  private void beginAt(long forced, Residence in, long size, List<Extent> dropped)
      throws IOException {
    // A copy that is being made would take the clean length back to where it has begun.
    writer.guard().changing();
    List<Extent> former = new ArrayList<>();
    changeSlot(in, slot -> former.addAll(slot.beginAt(forced)));
    writer.publish(Optional.of(in), HotView.spilled(in.bytes(), in.slot().extents(), forced, size));
    // Not before: without memory for the view readers still see them.
    dropped.addAll(former);
  }

  private void changeSlot(Residence in, SegmentWriter.SlotChange change) throws IOException {
    try {
      change.run(in.slot());
    } catch (IOException e) {
      // A start may find it done, and the next change would be made as if it was not.
      writer.markBroken(e);
      throw e;
    }
  }

  private void copy(FileChannel logFile, long from, long to, Residence in, ByteBuffer buffer)
      throws IOException {
    for (long at = from; at < to; at += buffer.limit()) {
      buffer.clear().limit((int) Math.min(buffer.capacity(), to - at));
      while (buffer.hasRemaining()) {
        if (logFile.read(buffer, at + buffer.position()) < 0) {
          throw new IOException(
              "%s: found the end of the log file at %s, expected %s bytes"
                  .formatted(segment.name(), logFile.size(), to));
        }
      }
      int length = buffer.flip().remaining();
      in.bytes().storeAndPersist(in.slot().extents(), at, buffer, length);
    }
  }
}
