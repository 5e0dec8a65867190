package io.strata.kafka.migration.remote.read;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.Optional;

/**
 * One reader's way through a segment, over all the streams that it opens one after the other: Kafka
 * opens one for each fetch of a consumer, a little before where the last one ended (at the index
 * entry before it).
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class Track {

  /** How far before its end a stream may be taken up again: Kafka goes back by a batch at most. */
  private static final long SLACK_BYTES = 2 << 20;

  /** A step of reading ahead. */
  record Step(int first, int count) {}

  private final ChunkSource source;
  private final int chunks;

  /** How far the reader came. */
  @GuardedBy("this")
  private long reached;

  /** Where it is. */
  @GuardedBy("this")
  private long position;

  /** How many bytes it read one after the other, in earlier segments, too. */
  @GuardedBy("this")
  private long run;

  /** Whether a second stream took it up where the first one ended. */
  @GuardedBy("this")
  private boolean takenUp;

  /** The first chunk that is not read ahead. */
  @GuardedBy("this")
  private int edge;

  /** The first chunk that is not to be read ahead now; beyond the segment's end for the next. */
  @GuardedBy("this")
  private int goal;

  /** Whether a thread reads ahead for it, or is to. */
  @GuardedBy("this")
  private boolean working;

  /** Whether what follows the segment may be asked for. */
  @GuardedBy("this")
  private boolean crosses;

  @GuardedBy("this")
  private Optional<Track> next = Optional.empty();

  /** A reader begins at {@code start}. */
  Track(ChunkSource source, long start) {
    this.source = source;
    chunks = Chunks.count(source);
    position = start;
    reached = start;
  }

  ChunkSource source() {
    return source;
  }

  /** How well a stream that begins there goes on with it: the smaller, the better; empty: not. */
  synchronized Optional<Long> distance(long start) {
    long slack = Math.max(SLACK_BYTES, source.chunkBytes());
    boolean near = start >= position - slack && start <= position + source.chunkBytes();
    return near ? Optional.of(Math.abs(start - position)) : Optional.empty();
  }

  /** A stream takes it up. */
  synchronized void takeUp() {
    takenUp = true;
  }

  /** The reader comes from the segment before, with what it read there. */
  synchronized void comesFrom(long earlierRun) {
    takenUp = true;
    run = Math.max(run, earlierRun);
  }

  /** The reader is there now. */
  synchronized void at(long now) {
    run += Math.max(0, now - reached);
    reached = Math.max(reached, now);
    position = now;
  }

  /** What was read one after the other, in chunks; a stream taken up counts as one. */
  synchronized long runChunks() {
    return run / source.chunkBytes() + (takenUp ? 1 : 0);
  }

  synchronized long run() {
    return run;
  }

  /**
   * Sets how far is to be read ahead, if that is worth a start: half of the distance is used up.
   *
   * @param chunk where the reader is
   * @param distance how many chunks ahead of it
   * @param last the last chunk that the reader will ask for
   * @return whether a thread must be given the work
   */
  synchronized boolean aim(int chunk, int distance, int last) {
    edge = Math.max(edge, chunk + 1);
    crosses = last == chunks - 1;
    int wanted = crosses ? chunk + 1 + distance : Math.min(chunk + 1 + distance, last + 1);
    if ((wanted <= edge && wanted <= chunks) || edge - chunk - 1 > distance / 2) {
      return false;
    }
    goal = wanted;
    if (working) {
      return false;
    }
    working = true;
    return true;
  }

  /** Reads no further ahead. */
  synchronized void giveUp() {
    goal = 0;
    next.ifPresent(Track::giveUp);
  }

  synchronized boolean givenUp() {
    return goal == 0;
  }

  /**
   * The next chunks to read ahead, at most so many. Empty when there are none in the segment: the
   * thread has then ended its work.
   */
  synchronized Optional<Step> step(int most) {
    int end = Math.min(goal, chunks);
    if (edge >= end) {
      working = false;
      return Optional.empty();
    }
    return Optional.of(new Step(edge, Math.min(most, end - edge)));
  }

  /** Those before {@code chunk} need not be read ahead any more. */
  synchronized void done(int chunk) {
    edge = Math.max(edge, chunk);
  }

  /** How many chunks of what follows the segment are wanted. */
  synchronized int beyond() {
    return crosses ? Math.max(0, goal - chunks) : 0;
  }

  synchronized Optional<Track> next() {
    return next;
  }

  synchronized void setNext(Track following) {
    next = Optional.of(following);
  }

  /** As {@link #aim}, for a reader who is still in a segment before. */
  synchronized boolean aimFromBefore(int distance) {
    goal = Math.max(goal, distance);
    crosses = true;
    if (working) {
      return false;
    }
    working = true;
    return true;
  }

  /** The thread leaves its work. */
  synchronized void stopWorking() {
    working = false;
  }
}
