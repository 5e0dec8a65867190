package io.strata.kafka.it.mirror;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/**
 * Gives the second stream's bytes, each compared with the first's; a difference is an IOException.
 * Not thread-safe.
 */
final class ComparingStream extends InputStream {

  private final String what;
  private final InputStream expected;
  private final InputStream actual;
  private long position;

  ComparingStream(String what, InputStream expected, InputStream actual) {
    this.what = what;
    this.expected = expected;
    this.actual = actual;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    int read = actual.read(bytes, offset, length);
    byte[] same = expected.readNBytes(read < 0 ? 1 : read);
    int count = Math.max(0, read);
    if (!Arrays.equals(same, 0, same.length, bytes, offset, offset + count)) {
      throw new IOException(
          Mirror.different(
              what + ": different within " + count + " bytes at " + position + " of the read",
              null));
    }
    position += count;
    Mirror.same(count);
    return read;
  }

  @Override
  public int available() throws IOException {
    return actual.available();
  }

  @Override
  public void close() throws IOException {
    try (expected;
        actual) {
      // both
    }
  }
}
