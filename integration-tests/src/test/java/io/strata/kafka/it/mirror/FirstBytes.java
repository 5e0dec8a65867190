package io.strata.kafka.it.mirror;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/** The first bytes of another stream. Not thread-safe. */
final class FirstBytes extends FilterInputStream {

  private long left;

  FirstBytes(InputStream in, long bytes) {
    super(in);
    left = bytes;
  }

  @Override
  public int read() throws IOException {
    int read = left > 0 ? super.read() : -1;
    left -= read < 0 ? 0 : 1;
    return read;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    int read = left > 0 ? super.read(bytes, offset, (int) Math.min(left, length)) : -1;
    left -= Math.max(0, read);
    return read;
  }
}
