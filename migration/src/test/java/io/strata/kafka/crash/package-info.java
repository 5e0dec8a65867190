/**
 * A file system in memory that knows what a power cut would leave of it, for the crash simulations
 * of this module and of others.
 */
@NullMarked
package io.strata.kafka.crash;

import org.jspecify.annotations.NullMarked;
