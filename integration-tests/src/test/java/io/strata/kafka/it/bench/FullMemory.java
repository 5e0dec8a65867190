package io.strata.kafka.it.bench;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Memory without a free page, as on a machine that has been up for long: clean pages of a file that
 * nothing needs. A virtual machine may give its free memory back to the host, and the first use of
 * each page then costs more than what a benchmark measures.
 */
final class FullMemory {
  private static final int PIECE = 1 << 20;

  private FullMemory() {}

  /** Reads a sparse file, as large as the memory that is free, in {@code folder}. */
  static void fill(Path folder) throws IOException {
    try (FileChannel file = FileChannel.open(folder.resolve("sparse"), CREATE, READ, WRITE)) {
      if (file.size() == 0) {
        int unused = file.write(ByteBuffer.allocate(1), available() - 1);
      }
      ByteBuffer buffer = ByteBuffer.allocateDirect(PIECE);
      while (file.read(buffer) > 0) {
        ByteBuffer unused = buffer.clear();
      }
    }
  }

  private static long available() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/meminfo"))) {
      if (line.startsWith("MemAvailable:")) {
        return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
      }
    }
    throw new IOException("/proc/meminfo: found no MemAvailable");
  }
}
