/**
 * The command line {@code strata}: {@code java -jar strata-kafka.jar}.
 *
 * <p>Public door: {@link io.strata.kafka.cli.Main}. This is the only package that writes to the
 * console or ends the JVM.
 */
@NullMarked
package io.strata.kafka.cli;

import org.jspecify.annotations.NullMarked;
