package io.strata.kafka.it.bench;

import io.strata.kafka.memory.MemoryOpener;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.PersistentMemory;
import io.strata.kafka.memory.PoolFiles;
import io.strata.kafka.memory.ProgressListener;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
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
 * Durable appends to a pool's memory and reads from it: each invocation moves 128 MiB in pieces. To
 * hold against {@link ChannelBench} and against pmem_append.c, on the same file system.
 */
@State(Scope.Thread)
@SuppressWarnings("NullAway.Init") // JMH sets the fields, and calls open first
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 30)
@Measurement(iterations = 30)
@Fork(3)
public class MemoryBench {
  /** Where the committed length is in this benchmark's file. */
  private static final long COMMITTED = 0;

  private static final long DATA = 4096;

  /** A directory on the file system to measure. */
  @Param("/dev/shm")
  public String directory;

  /** How the bytes are reached. */
  @Param({"MAPPED", "PMEM", "FILE"})
  public MemoryType type;

  /** Bytes of a piece. */
  @Param({"16384", "163840", "1048576"})
  public int length;

  private Path file;
  private PersistentMemory memory;
  private ByteBuffer piece;

  /** Makes a pool file with all of its pages present. */
  @Setup
  public void open() throws IOException {
    file = BenchFile.fresh(directory);
    Path unused = Files.createFile(file);
    PoolFiles.extend(file, DATA + BenchFile.TOTAL, ProgressListener.NONE);
    memory = MemoryOpener.open(type, file, true);
    memory.store(0, ByteBuffer.allocate((int) (DATA + BenchFile.TOTAL)));
    piece = BenchFile.source(length);
  }

  /** Removes the file. */
  @TearDown
  public void close() throws Exception {
    memory.close();
    Files.delete(file);
  }

  /** Bytes and then the committed length, each persisted, for each piece. */
  @Benchmark
  public long append() throws IOException {
    long done = 0;
    while (done + length <= BenchFile.TOTAL) {
      memory.storeAndPersist(DATA + done, piece.clear());
      done += length;
      memory.storeLong(COMMITTED, done);
      memory.persist(COMMITTED, Long.BYTES);
    }
    return done;
  }

  /** A positional read into a heap buffer for each piece. */
  @Benchmark
  public long read() throws IOException {
    long done = 0;
    while (done + length <= BenchFile.TOTAL) {
      memory.load(DATA + done, piece.clear());
      done += length;
    }
    return done;
  }
}
