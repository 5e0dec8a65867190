/**
 * The one process-wide handle: which role this JVM has (broker or tool), which configuration it
 * found, and the hot tier, opened when it is first needed.
 */
@NullMarked
package io.strata.kafka.broker;

import org.jspecify.annotations.NullMarked;
