package io.strata.kafka.migration.remote;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.function.LongConsumer;

/**
 * A range on its way to Kafka: counted when it is closed, or when it failed.
 *
 * <p>Thread safety: for one thread, as streams are.
 */
final class FetchStream extends FilterInputStream {

  private final OperationMeters.Run run;
  private final LongConsumer read;
  private long bytes;
  private boolean begun;
  private boolean ended;

  FetchStream(InputStream range, OperationMeters.Run run, LongConsumer read) {
    super(range);
    this.run = run;
    this.read = read;
  }

  @Override
  public int read() throws IOException {
    try {
      int value = super.read();
      count(value < 0 ? 0 : 1);
      return value;
    } catch (IOException | RuntimeException e) {
      failed(e);
      throw e;
    }
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    try {
      int count = super.read(target, offset, length);
      count(Math.max(0, count));
      return count;
    } catch (IOException | RuntimeException e) {
      failed(e);
      throw e;
    }
  }

  @Override
  public long skip(long count) throws IOException {
    try {
      return super.skip(count);
    } catch (IOException | RuntimeException e) {
      failed(e);
      throw e;
    }
  }

  private void count(int more) {
    bytes += more;
    if (!begun) {
      begun = true;
      run.latency();
    }
  }

  private void failed(Exception failure) {
    if (!ended) {
      ended = true;
      run.failed(Failures.cause(failure));
    }
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
