/**
 * The command line {@code strata}: {@code java -jar strata-kafka.jar}.
 *
 * <p>Public door: {@link io.strata.kafka.cli.Main}. This is the only package that writes to the
 * console or ends the JVM. A command runs on one thread: what is not immutable is not thread-safe.
 */
@NullMarked
package io.strata.kafka.cli;

import org.jspecify.annotations.NullMarked;
