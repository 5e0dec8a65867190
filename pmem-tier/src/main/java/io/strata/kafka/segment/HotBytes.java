package io.strata.kafka.segment;

import io.strata.kafka.segment.view.HotView;
import io.strata.kafka.segment.view.ReaderGate;
import io.strata.kafka.segment.view.Reads;
import io.strata.kafka.segment.view.SegmentBytes;
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
  private final SegmentWriter writer;
  private final ReaderGate gate;
  private final Reads reads;
  private final SegmentSettings settings;
  private final SegmentEvents events;

  HotBytes(
      Segment segment,
      SegmentWriter writer,
      ReaderGate gate,
      Reads reads,
      SegmentSettings settings,
      SegmentEvents events) {
    this.segment = segment;
    this.writer = writer;
    this.gate = gate;
    this.reads = reads;
    this.settings = settings;
    this.events = events;
  }

  @Override
  public String name() {
    return segment.name();
  }

  @Override
  public long size(FileChannel logFile) {
    return writer.view().size();
  }

  @Override
  public int read(ByteBuffer target, long position, FileChannel logFile) throws IOException {
    int token = gate.enter();
    try {
      return readInsideGate(target, position, logFile);
    } finally {
      gate.exit(token);
    }
  }

  private int readInsideGate(ByteBuffer target, long position, FileChannel logFile)
      throws IOException {
    while (true) {
      HotView view = writer.view();
      long size = view.size();
      if (position >= size) {
        return -1;
      }
      int read = view.read(size, target, position, logFile);
      if (read > 0) {
        countLogFileRead(view, size, position, read);
        return read;
      }
      checkLogFileWasTruncated(view, position, logFile);
    }
  }

  private void countLogFileRead(HotView view, long size, long position, long length) {
    long end = position + length;
    long before = Math.min(end, view.poolStart()) - position;
    long behind = end - Math.max(position, Math.max(view.poolStart(), view.poolEnd(size)));
    long inLogFile = Math.max(0, before) + Math.max(0, behind);
    if (inLogFile > 0) {
      events.readInLogFile(inLogFile);
    }
  }

  /**
   * The log file has no byte at a position where the view has one: is that a truncation under way?
   */
  private void checkLogFileWasTruncated(HotView view, long position, FileChannel logFile)
      throws IOException {
    if (writer.view() == view) {
      throw new IOException(
          """
          %s: the log file ends at %s, expected a byte at %s of %s: the file was truncated by \
          something else than this broker; its tail is lost\
          """
              .formatted(name(), logFile.size(), position, view.size()));
    }
  }

  @Override
  public long transferTo(long position, long count, WritableByteChannel target, FileChannel logFile)
      throws IOException {
    int token = gate.enter();
    try {
      HotView view = writer.view();
      long size = view.size();
      if (position >= size) {
        return 0;
      }
      long written = view.transferTo(size, position, count, target, logFile);
      boolean inLogFile = position < view.poolStart() || position >= view.poolEnd(size);
      if (written == 0 && inLogFile && logFile.size() <= position) {
        checkLogFileWasTruncated(view, position, logFile);
      }
      countLogFileRead(view, size, position, written);
      return written;
    } finally {
      gate.exit(token);
    }
  }

  @Override
  public int write(ByteBuffer source, long position, FileChannel logFile) throws IOException {
    events.appending();
    return writer.write(source, position, logFile);
  }

  @Override
  public int append(ByteBuffer source, FileChannel logFile) throws IOException {
    events.appending();
    return writer.append(source, logFile);
  }

  @Override
  public void truncate(long length, FileChannel logFile) throws IOException {
    events.truncating();
    writer.truncate(length, logFile);
  }

  @Override
  public void force(boolean metaData, FileChannel logFile) throws IOException {
    writer.force(metaData, logFile);
  }

  @Override
  public boolean whollyInLogFile() {
    HotView view = writer.view();
    return view.spilled() && view.poolEnd(view.size()) == 0;
  }

  @Override
  public void logFileMayHaveGrown(FileChannel logFile) throws IOException {
    writer.logFileMayHaveGrown(logFile);
  }

  @Override
  public void read(long count, long nanos) {
    reads.add(count, settings.clock().millis());
    events.read(count, nanos);
  }

  @Override
  public void appended(long count, long nanos) {
    events.appended(count, nanos);
  }

  @Override
  public void changed() {
    segment.touch();
  }
}
