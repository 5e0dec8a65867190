package io.strata.kafka.segment;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.RecordingMemory;
import io.strata.kafka.segment.CopyResult.Outcome;
import io.strata.kafka.segment.view.Residence;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A segment without a slot is changed by its own channel while it is copied up: no fault of
 * anybody's.
 */
final class ChangedWhileCopiedTest {

  private static final Set<StandardOpenOption> READ_WRITE =
      Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);

  /** More than one piece of a copy. */
  private static final int LENGTH = 5_000_000;

  private final HeapFile logFile = new HeapFile();
  private Segment segment;
  private FileChannel channel;
  private Residence copy;

  @BeforeEach
  void inLogFile() throws IOException {
    segment =
        Segment.inLogFile(
            "log", 0, 0, new SegmentSettings(false, InstantSource.system()), SegmentEvents.NONE);
    channel = segment.open(logFile.open(), READ_WRITE);
    append(LENGTH, 1);
    TinyPool pool = TinyPool.format(new RecordingMemory(16 << 20, Durability.FORCE));
    copy = new Residence(pool.allocate("copy"), pool.pool());
  }

  private void append(int length, long seed) throws IOException {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    channel.write(ByteBuffer.wrap(bytes), channel.size());
  }

  private CopyResult copied(CopyPace pace) throws Exception {
    try (FileChannel from = logFile.open()) {
      return segment.copying().copyInto(copy, from, pace, true);
    }
  }

  @Test
  void cutBeforeLogFilesLengthIsCompared() throws Exception {
    logFile.beforeSize(
        () -> {
          try {
            channel.truncate(200_000);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
    assertThat(copied(CopyPace.FREE).outcome()).isEqualTo(Outcome.CHANGED);
  }

  @Test
  void otherBytesOfTheSameLengthBetweenTwoPieces() throws Exception {
    CopyPace pace =
        new CopyPace() {
          private boolean changed;

          @Override
          public boolean stopped() {
            return false;
          }

          @Override
          public void before(long bytes) {
            if (!changed) {
              changed = true;
              try {
                channel.truncate(0);
                append(LENGTH, 2);
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            }
          }

          @Override
          public void reached(Step step) {}
        };
    assertThat(copied(pace).outcome()).isEqualTo(Outcome.CHANGED);
  }

  @Test
  void aPieceThatComesLateLeavesWhatHasSpilled() throws Exception {
    HeapFile log = new HeapFile();
    TinyPool pool = TinyPool.format(new RecordingMemory(4 << 20, Durability.POWER));
    Segment pooled =
        new Segment(
            pool.allocate("pooled"),
            pool.pool(),
            0,
            SegmentSettings.defaults(),
            SegmentEvents.NONE);
    try (FileChannel ours = pooled.open(log.open(), READ_WRITE)) {
      segment = pooled;
      channel = ours;
      append(1_500_000, 3);
      CopyPace pace =
          new CopyPace() {
            private int pieces;

            @Override
            public boolean stopped() {
              return false;
            }

            @Override
            public void before(long bytes) {
              pieces++;
              if (pieces == 3) {
                try {
                  channel.truncate(100_000);
                  pool.leaveFree(0);
                  append(900_000, 4);
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              }
            }

            @Override
            public void reached(Step step) {}
          };
      try (FileChannel to = log.open()) {
        assertThat(pooled.copying().copyToLogFile(to, pace, true, () -> to.force(true)).outcome())
            .isEqualTo(Outcome.CHANGED);
      }
      assertThat(pooled.spilled()).isTrue();
      byte[] appended = new byte[900_000];
      new Random(4).nextBytes(appended);
      ByteBuffer found = ByteBuffer.allocate(appended.length);
      while (found.hasRemaining()) {
        assertThat(channel.read(found, 100_000L + found.position())).isPositive();
      }
      assertThat(found.array()).isEqualTo(appended);
    }
  }
}
