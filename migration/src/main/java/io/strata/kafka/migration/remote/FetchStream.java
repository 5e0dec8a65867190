package io.strata.kafka.migration.remote;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.util.function.LongConsumer;

/**
 * A range on its way to Kafka: counted when it is closed, or when it failed.
 *
 * <p>Thread safety: for one thread, as streams are.
 */
final class FetchStream extends FilterInputStream {

  private final RemoteMeters.Run run;
  private final LongConsumer read;
  private long bytes;
  private boolean begun;
  private boolean ended;

  /**
   * Counts a range.
   *
   * @param run ends with the stream
   * @param read gets how many bytes were read, when the stream is closed
   */
  FetchStream(InputStream range, RemoteMeters.Run run, LongConsumer read) {
    super(range);
    this.run = run;
    this.read = read;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    try {
      int count = super.read(target, offset, length);
      bytes += Math.max(0, count);
      if (!begun) {
        begun = true;
        run.latency();
      }
      return count;
    } catch (Throwable e) {
      throw failed(e);
    }
  }

  /**
   * Names the segment in a failure. Kafka's threads take exceptions; an Error would end what they
   * do without a word.
   */
  private IOException failed(Throwable failure) {
    String message = failure.toString();
    if (!ended) {
      ended = true;
      message = String.valueOf(run.failed(failure).getMessage());
    }
    return failure instanceof InterruptedIOException interrupted
        ? interrupted
        : new IOException(message, failure);
  }

  @Override
  public void close() throws IOException {
    if (!ended) {
      ended = true;
      run.done(bytes);
      read.accept(bytes);
    }
    super.close();
  }
}
