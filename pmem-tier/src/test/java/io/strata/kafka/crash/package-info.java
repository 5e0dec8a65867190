/**
 * The crash simulation: the whole tier on memory and on a log file system that know what a power
 * cut would leave of them.
 */
@NullMarked
package io.strata.kafka.crash;

import org.jspecify.annotations.NullMarked;
