package io.strata.kafka.segment;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * How long a segment's extents are its own: until it has been deleted <em>and</em> its last channel
 * is closed, as a file's blocks are.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class Lifetime {

  @GuardedBy("this")
  private int channels;

  /** The last of the log file's own channels under them; null when there is none. */
  @GuardedBy("this")
  private @Nullable Descriptor descriptors;

  /** Whether channels may still be opened. */
  @GuardedBy("this")
  private boolean open = true;

  @GuardedBy("this")
  private Runnable end = () -> {};

  private final SegmentEvents events;

  /**
   * A log file's own channel, in a chain. The JDK closes the descriptor of one that is no longer
   * referred to, without closing the channel, after this has been cleared.
   */
  private static final class Descriptor extends WeakReference<Object> {
    private @Nullable Descriptor other;

    Descriptor(Object channel, @Nullable Descriptor other) {
      super(channel);
      this.other = other;
    }
  }

  /** A lifetime that notifies {@code events} each time that the last channel has been closed. */
  Lifetime(SegmentEvents events) {
    this.events = events;
  }

  /**
   * A channel is about to be opened.
   *
   * @param name the segment's, for the message
   * @param descriptor the channel that has the log file open, until {@link #channelCloses} or as
   *     long as it can be reached
   * @throws IOException after {@link #close}
   */
  synchronized void channelOpened(String name, Object descriptor) throws IOException {
    if (!open) {
      throw new IOException(name + " has been deleted: it cannot be opened any more");
    }
    channels++;
    forget(null);
    descriptors = new Descriptor(descriptor, descriptors);
  }

  /** A channel that was opened is about to close the log file's. */
  synchronized void channelCloses(Object descriptor) {
    forget(descriptor);
  }

  /** Forgets {@code descriptor}, and those that are gone. */
  @GuardedBy("this")
  private void forget(@Nullable Object descriptor) {
    Descriptor kept = null;
    for (Descriptor each = descriptors; each != null; ) {
      Descriptor following = each.other;
      if (!each.refersTo(null) && !each.refersTo(descriptor)) {
        each.other = kept;
        kept = each;
      }
      each = following;
    }
    descriptors = kept;
  }

  /** A channel that {@link #channelCloses} was notified of has been closed. */
  void channelClosed() {
    Runnable last = () -> {};
    boolean unused = false;
    synchronized (this) {
      channels--;
      if (channels == 0) {
        last = end;
        unused = true;
      }
    }
    last.run();
    if (unused) {
      events.idle();
    }
  }

  /** No channel can be opened from now on. */
  synchronized void close() {
    open = false;
  }

  /**
   * Runs {@code atEnd} when no channel is open: now, or in the thread that closes the last one.
   * Called once, after {@link #close}.
   */
  void whenUnused(Runnable atEnd) {
    synchronized (this) {
      if (channels > 0) {
        end = atEnd;
        return;
      }
    }
    atEnd.run();
  }

  /** Channels open now. */
  synchronized int channels() {
    return channels;
  }

  /** Returns whether a channel has its descriptor open. */
  synchronized boolean holdsFile() {
    forget(null);
    return descriptors != null;
  }
}
