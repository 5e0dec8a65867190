package io.strata.kafka.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;

/**
 * The bytes of a hot segment in the process that writes the pool: the reader inside the gate, the
 * writer under its lock, and nothing that both would wait for.
 *
 * <p>Thread safety: as {@link SegmentBytes} asks.
 */
final class HotBytes implements SegmentBytes {

  private final Segment segment;
  private final SegmentReader reader;
  private final SegmentWriter writer;
  private final ReaderGate gate;
  private final SegmentEvents events;
  private final SegmentGuard guard;

  HotBytes(
      Segment segment,
      SegmentReader reader,
      SegmentWriter writer,
      ReaderGate gate,
      SegmentEvents events,
      SegmentGuard guard) {
    this.segment = segment;
    this.reader = reader;
    this.writer = writer;
    this.gate = gate;
    this.events = events;
    this.guard = guard;
  }

  /** Who hears of reads. */
  SegmentEvents events() {
    return events;
  }

  @Override
  public String name() {
    return segment.name();
  }

  @Override
  public long size(FileChannel home) {
    return writer.view().size();
  }

  @Override
  public int read(ByteBuffer target, long position, FileChannel home) throws IOException {
    int token = gate.enter();
    try {
      while (true) {
        HotView view = writer.view();
        long size = view.size();
        if (position >= size) {
          return -1;
        }
        int read = reader.read(view, size, target, position, home);
        if (read > 0) {
          tellHome(view, size, position, read);
          return read;
        }
        checkHomeWasTruncated(view, position, home);
      }
    } finally {
      gate.exit(token);
    }
  }

  private void tellHome(HotView view, long size, long position, long length) {
    long end = position + length;
    long before = Math.min(end, view.poolStart()) - position;
    long behind = end - Math.max(position, Math.max(view.poolStart(), view.poolEnd(size)));
    long atHome = Math.max(0, before) + Math.max(0, behind);
    if (atHome > 0) {
      events.readAtHome(atHome);
    }
  }

  /** Home has no byte at a position where the view has one: is that a truncation under way? */
  private void checkHomeWasTruncated(HotView view, long position, FileChannel home)
      throws IOException {
    if (writer.view() == view) {
      throw new IOException(
          name()
              + ": home ends at "
              + home.size()
              + ", expected a byte at "
              + position
              + " of "
              + view.size()
              + ": the file was cut short by something else than this broker; its tail is lost");
    }
  }

  @Override
  public long transferTo(long position, long count, WritableByteChannel target, FileChannel home)
      throws IOException {
    int token = gate.enter();
    try {
      HotView view = writer.view();
      long size = view.size();
      if (position >= size) {
        return 0;
      }
      long written = reader.transferTo(view, size, position, count, target, home);
      boolean atHome = position < view.poolStart() || position >= view.poolEnd(size);
      if (written == 0 && atHome && home.size() <= position) {
        checkHomeWasTruncated(view, position, home);
      }
      tellHome(view, size, position, written);
      return written;
    } finally {
      gate.exit(token);
    }
  }

  @Override
  public int write(ByteBuffer source, long position, FileChannel home) throws IOException {
    guard.appending(segment);
    return writer.write(source, position, home);
  }

  @Override
  public int append(ByteBuffer source, FileChannel home) throws IOException {
    guard.appending(segment);
    return writer.append(source, home);
  }

  @Override
  public void truncate(long length, FileChannel home) throws IOException {
    guard.truncating(segment);
    writer.truncate(length, home);
  }

  @Override
  public void force(boolean metaData, FileChannel home) throws IOException {
    writer.force(metaData, home);
  }

  @Override
  public boolean whollyAtHome() {
    HotView view = writer.view();
    return view.spilled() && view.poolEnd(view.size()) == 0;
  }

  @Override
  public void homeMayHaveGrown(FileChannel home) throws IOException {
    writer.homeMayHaveGrown(home);
  }
}
