package io.strata.kafka.migration.remote;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongConsumer;

/**
 * A range on its way to Kafka: counted when it is closed, or when it failed.
 *
 * <p>Thread safety: for one thread, as streams are.
 */
final class FetchStream extends FilterInputStream {

  private final OperationMeters.Run run;
  private final LongConsumer read;
  private final Function<Throwable, ? extends Exception> failed;
  private long bytes;
  private boolean begun;
  private boolean ended;

  /**
   * Counts a range.
   *
   * @param run ends with the stream
   * @param read gets how many bytes were read, when the stream is closed
   * @param failed ends {@code run} by a failure, and puts that in Kafka's words
   */
  FetchStream(
      InputStream range,
      OperationMeters.Run run,
      LongConsumer read,
      Function<Throwable, ? extends Exception> failed) {
    super(range);
    this.run = run;
    this.read = read;
    this.failed = failed;
  }

  @Override
  public int read() throws IOException {
    try {
      int value = super.read();
      count(value < 0 ? 0 : 1);
      return value;
    } catch (Throwable e) {
      throw failed(e);
    }
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    try {
      int count = super.read(target, offset, length);
      count(Math.max(0, count));
      return count;
    } catch (Throwable e) {
      throw failed(e);
    }
  }

  @Override
  public long skip(long count) throws IOException {
    try {
      return super.skip(count);
    } catch (Throwable e) {
      throw failed(e);
    }
  }

  private void count(int more) {
    bytes += more;
    if (!begun) {
      begun = true;
      run.latency();
    }
  }

  /**
   * Names the segment in a failure. Kafka's threads take exceptions; an Error would end what they
   * do without a word.
   */
  private IOException failed(Throwable failure) {
    Optional<Exception> named = Optional.empty();
    if (!ended) {
      ended = true;
      named = Optional.of(failed.apply(failure));
    }
    return failure instanceof InterruptedIOException interrupted
        ? interrupted
        : new IOException(named.map(Throwable::getMessage).orElseGet(failure::toString), failure);
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
