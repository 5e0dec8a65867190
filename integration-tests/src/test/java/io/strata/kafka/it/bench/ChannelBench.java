package io.strata.kafka.it.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What stock Kafka does: appends and positional reads through the JDK's {@link FileChannel}, with
 * nothing forced. Each invocation moves 128 MiB in pieces, as in {@link MemoryBench}.
 */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 30)
@Measurement(iterations = 30)
@Fork(3)
public class ChannelBench {

  /** A file whose blocks and pages exist. */
  @State(Scope.Thread)
  @SuppressWarnings("NullAway.Init") // JMH sets the fields, and calls open first
  public static class Warm {
    /** A directory on the file system to measure. */
    @Param("/dev/shm")
    public String directory;

    /** Bytes of a piece. */
    @Param({"16384", "163840", "1048576"})
    public int length;

    private Path file;
    private FileChannel channel;
    private ByteBuffer piece;

    /** Makes the file, and writes it once. */
    @Setup
    public void open() throws IOException {
      file = BenchFile.fresh(directory);
      channel = BenchFile.create(file);
      piece = BenchFile.source(length);
      long unused = BenchFile.append(channel, piece);
    }

    /** Removes the file. */
    @TearDown
    public void close() throws IOException {
      channel.close();
      Files.delete(file);
    }
  }

  /** A new, empty file for each invocation, as each of Kafka's segments is. */
  @State(Scope.Thread)
  @SuppressWarnings("NullAway.Init") // JMH sets the fields, and calls open first
  public static class Fresh {
    /** A directory on the file system to measure. */
    @Param("/dev/shm")
    public String directory;

    /** Bytes of a piece. */
    @Param({"16384", "163840", "1048576"})
    public int length;

    private Path file;
    private FileChannel channel;
    private ByteBuffer piece;

    /** Makes the file. */
    @Setup(Level.Invocation)
    public void open() throws IOException {
      file = BenchFile.fresh(directory);
      channel = BenchFile.create(file);
      piece = BenchFile.source(length);
    }

    /** Removes the file; not measured. */
    @TearDown(Level.Invocation)
    public void close() throws IOException {
      channel.close();
      Files.delete(file);
    }
  }

  /** Appends over a file that exists. */
  @Benchmark
  public long appendWarm(Warm to) throws IOException {
    return BenchFile.append(to.channel, to.piece);
  }

  /** Appends to a new file. */
  @Benchmark
  public long appendFresh(Fresh to) throws IOException {
    return BenchFile.append(to.channel, to.piece);
  }

  /** A positional read into a heap buffer for each piece. */
  @Benchmark
  public long read(Warm from) throws IOException {
    long done = 0;
    while (done + from.length <= BenchFile.TOTAL) {
      from.piece.clear();
      while (from.piece.hasRemaining()) {
        done += from.channel.read(from.piece, done);
      }
    }
    return done;
  }
}
