package io.strata.kafka.it.versions;

/** The system's class loader of a JVM, as some security agents set one. */
public final class SystemLoader extends ClassLoader {

  /** For the JVM: below the loader of the class path. */
  public SystemLoader(ClassLoader parent) {
    super("agent", parent);
  }
}
