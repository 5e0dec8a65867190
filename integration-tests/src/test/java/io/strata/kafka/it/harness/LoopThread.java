package io.strata.kafka.it.harness;

import java.util.concurrent.atomic.AtomicReference;

/**
 * A daemon thread that works until it is closed, and keeps what it throws.
 *
 * <p>Thread safety: started and closed by one thread; the work may ask {@link #isStopping}.
 */
public final class LoopThread implements AutoCloseable {

  /** Does the work until {@link #isStopping}. */
  @FunctionalInterface
  public interface Work {
    void run() throws Exception;
  }

  private final String failed;
  private final Thread thread;
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private volatile boolean stopping;

  /**
   * A thread that is not started.
   *
   * @param name of the thread
   * @param failed the message of an error, if the work ends by an exception
   */
  public LoopThread(String name, String failed, Work work) {
    this.failed = failed;
    thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (Throwable t) {
                failure.set(t);
              }
            },
            name);
    thread.setDaemon(true);
  }

  public void start() {
    thread.start();
  }

  /** Whether the work is to end. */
  public boolean isStopping() {
    return stopping;
  }

  /** Whether it works; not when it has failed. */
  public boolean isRunning() {
    return thread.isAlive();
  }

  /** Throws an error if the work has ended by an exception. */
  public void assertRunning() {
    Throwable thrown = failure.get();
    if (thrown != null) {
      throw new AssertionError(failed, thrown);
    }
  }

  /** Waits until the work has ended, and throws an error if that was by an exception. */
  @Override
  public void close() {
    stopping = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for " + thread.getName(), e);
    }
    assertRunning();
  }
}
