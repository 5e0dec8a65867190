package io.strata.kafka.migration.remote.cold;

/**
 * Calls into another manager's code with its class loader as the thread's: libraries look there for
 * what they load by name.
 */
final class Calls {

  private Calls() {}

  /** A call. */
  @FunctionalInterface
  interface Call<T, E extends Exception> {
    T run() throws E;
  }

  static <T, E extends Exception> T with(ClassLoader loader, Call<T, E> call) throws E {
    Thread thread = Thread.currentThread();
    ClassLoader former = thread.getContextClassLoader();
    thread.setContextClassLoader(loader);
    try {
      return call.run();
    } finally {
      thread.setContextClassLoader(former);
    }
  }
}
