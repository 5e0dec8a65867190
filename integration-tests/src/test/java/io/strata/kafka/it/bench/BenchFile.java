package io.strata.kafka.it.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;

/** What the benchmarks of one file have in common: how much is appended, from what, and where. */
final class BenchFile {
  /** Bytes appended or read by one invocation of a benchmark. */
  static final long TOTAL = 128L << 20;

  private BenchFile() {}

  /** A heap buffer of random bytes, as Kafka's network threads hand to an append. */
  static ByteBuffer source(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return ByteBuffer.wrap(bytes);
  }

  /** A file name that no other run uses. */
  static Path fresh(String directory) throws IOException {
    Path file = Files.createTempFile(Path.of(directory), "strata-bench", ".bin");
    Files.delete(file);
    return file;
  }

  static FileChannel create(Path file) throws IOException {
    return FileChannel.open(
        file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
  }

  /** Appends {@link #TOTAL} bytes from the channel's start, as Kafka's {@code FileRecords} does. */
  static long append(FileChannel channel, ByteBuffer source) throws IOException {
    FileChannel unused = channel.position(0);
    long done = 0;
    while (done + source.capacity() <= TOTAL) {
      source.clear();
      while (source.hasRemaining()) {
        done += channel.write(source);
      }
    }
    return done;
  }
}
