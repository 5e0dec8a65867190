package io.strata.kafka.tier.spec;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Who gets a log directory's disk: on a simulated device, by a simulated clock. */
final class LogDiskPaceTest {

  private static final long MIB = 1 << 20;
  private static final long DISK = 80 * MIB;
  private static final long WRITE = 256 << 10;
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  /**
   * A disk that serves one write after the other: of appends that spill, and of one copy.
   *
   * <p>Clients that are as fast as the disk ({@code spillers}) have their next write in the queue
   * at once; others ({@code spillRate}) bring so much in a second.
   */
  private static final class Disk implements LogDiskPace.Time {
    private final LogDiskPace pace = new LogDiskPace(this);
    private final int spillers;
    private final double spillRate;
    private double pooledRate;
    private long now = 1;
    private double owed;
    private long spilled;
    private long copied;
    private double scarcity;

    Disk(int spillers, double spillRate, double pooledRate) {
      this.spillers = spillers;
      this.spillRate = spillRate;
      this.pooledRate = pooledRate;
    }

    @Override
    public long nanos() {
      return now;
    }

    /** Time without a copy. */
    @Override
    public void sleep(long nanos) {
      long end = now + nanos;
      while (now < end) {
        if (spillers > 0) {
          spills(spillers);
          pass(WRITE);
        } else if (owed >= WRITE) {
          owed -= WRITE;
          spills(1);
          pass(WRITE);
        } else {
          idle(Math.min(end - now, SECOND / 1000));
        }
      }
    }

    private void spills(int inQueue) {
      pace.appended(WRITE, inQueue * WRITE * SECOND / DISK, now, true);
      spilled += WRITE;
    }

    /** The time that the disk takes to write. */
    private void pass(long bytes) {
      idle(bytes * SECOND / DISK);
    }

    private void idle(long nanos) {
      now += nanos;
      owed += spillRate * nanos / SECOND;
      if (pooledRate > 0) {
        pace.appended((long) (pooledRate * nanos / SECOND), 0, now, false);
      }
    }

    /** One write of a copy, behind those of the appends that are in the queue. */
    private void copy() {
      int waiting = spillers > 0 ? spillers : (int) Math.min(4, owed / WRITE);
      for (int i = 0; i < waiting; i++) {
        owed -= spillers > 0 ? 0 : WRITE;
        spills(waiting + 1);
        pass(WRITE);
      }
      pass(WRITE);
      copied += WRITE;
    }

    /** Copies for a time; returns the copies' part of what the disk can do. */
    double copyFor(long seconds) throws InterruptedException {
      long began = now;
      long before = copied;
      long resumed = now;
      while (now < began + seconds * SECOND) {
        long begun = now;
        copy();
        pace.copied(WRITE, now - begun);
        long unused = pace.rest(now - resumed, () -> scarcity, () -> false);
        resumed = now;
      }
      return (double) (copied - before) * SECOND / (now - began) / DISK;
    }
  }

  @Test
  void copiesHaveTheWholeDiskWhenNothingSpills() throws Exception {
    Disk disk = new Disk(0, 0, 0.8 * DISK);
    assertThat(disk.copyFor(10)).isGreaterThan(0.99);
  }

  @Test
  void underLastingOverloadTheDiskIsForWhatSpills() throws Exception {
    for (int spillers : new int[] {1, 4, 16}) {
      Disk disk = new Disk(spillers, 0, 0);
      double unused = disk.copyFor(5);
      long before = disk.spilled;
      assertThat(disk.copyFor(60)).as("copies, %s appends spill", spillers).isLessThan(0.02);
      assertThat(disk.spilled - before).isGreaterThan((long) (0.97 * 60 * DISK));
    }
  }

  @Test
  void copiesHaveWhatSpillsLeave() throws Exception {
    Disk disk = new Disk(0, 0.5 * DISK, 0);
    double unused = disk.copyFor(5);
    long before = disk.spilled;
    assertThat(disk.copyFor(60)).isBetween(0.2, 0.5);
    assertThat(disk.spilled - before).isGreaterThan((long) (0.98 * 60 * 0.5 * DISK));
  }

  @Test
  void copiesWaitForTheEndOfABurstUntilSpaceIsScarce() throws Exception {
    Disk disk = new Disk(0, 0, 0);
    assertThat(disk.copyFor(5)).isGreaterThan(0.99);
    disk.pooledRate = 10 * DISK;
    double unused = disk.copyFor(3);
    assertThat(disk.copyFor(20)).as("with space").isLessThan(0.02);
    disk.scarcity = 0.5;
    assertThat(disk.copyFor(20)).as("with half of the space").isBetween(0.4, 0.6);
    disk.scarcity = 1;
    assertThat(disk.copyFor(20)).as("without space").isGreaterThan(0.9);
    disk.scarcity = 0;
    disk.pooledRate = 0;
    unused = disk.copyFor(3);
    assertThat(disk.copyFor(20)).as("after the burst").isGreaterThan(0.99);
  }

  /** The first copy may begin half a second later: the appends before it have to be seen. */
  @Test
  void aBurstAfterAQuietTimePressesBeforeTheFirstCopy() throws Exception {
    Disk disk = new Disk(0, 0, 0);
    double unused = disk.copyFor(5);
    disk.sleep(60 * SECOND);
    disk.pooledRate = 10 * DISK;
    disk.sleep(SECOND / 2);
    assertThat(disk.pace.share(0)).isZero();
    disk.pooledRate = 0;
    disk.sleep(60 * SECOND);
    assertThat(disk.pace.share(0)).isEqualTo(1);
  }

  @Test
  void aSteadyLoadBelowTheDisksSpeedDoesNotPress() throws Exception {
    Disk disk = new Disk(0, 0, 0.9 * DISK);
    double unused = disk.copyFor(5);
    assertThat(disk.copyFor(60)).isGreaterThan(0.95);
    assertThat(disk.pace.pieceBytes(64 * MIB, 0)).isEqualTo(64 * MIB);
  }

  /** Each of two sees half of the disk's speed. */
  @Test
  void copiesAtOnceAreMeasuredTogether() {
    Disk disk = new Disk(0, 0, 0.6 * DISK);
    for (int i = 0; i < 1_000; i++) {
      disk.pass(WRITE);
      disk.pace.copied(WRITE, 2 * WRITE * SECOND / DISK);
    }
    assertThat(disk.pace.share(0)).as("below the disk's speed").isEqualTo(1);
    disk.pooledRate = 1.2 * DISK;
    for (int i = 0; i < 1_000; i++) {
      disk.pass(WRITE);
      disk.pace.copied(WRITE, 2 * WRITE * SECOND / DISK);
    }
    assertThat(disk.pace.share(0)).as("above it").isZero();
  }

  @Test
  void aRestEndsWhenTheCopyIsToStop() throws Exception {
    Disk disk = new Disk(4, 0, 0);
    double unused = disk.copyFor(5);
    assertThat(disk.pace.share(1)).isZero();
    assertThat(disk.pace.rest(SECOND, () -> 1, () -> true)).isZero();
    assertThat(disk.pace.pieceBytes(64 * MIB, 1)).isLessThan(64 * MIB);
  }
}
