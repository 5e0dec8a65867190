/**
 * The default file system provider: the JDK's own, with segments routed to the hot tier.
 *
 * <p>Public doors: {@link io.strata.kafka.nio.StrataFileSystemProvider}, named by the system
 * property {@code java.nio.file.spi.DefaultFileSystemProvider}. The {@code Delegating…} classes
 * only translate paths and forward to the JDK; what Strata adds is in {@code
 * StrataFileSystemProvider} and the small classes that it uses.
 *
 * <p>Code here may run while the JVM boots: it neither logs nor reads a configuration, and reports
 * by exceptions alone.
 */
@NullMarked
package io.strata.kafka.nio;

import org.jspecify.annotations.NullMarked;
