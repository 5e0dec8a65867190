/** Starts Lincheck, a checker of linearizability, in a JVM of its own. */
@NullMarked
package io.strata.kafka.lincheck;

import org.jspecify.annotations.NullMarked;
