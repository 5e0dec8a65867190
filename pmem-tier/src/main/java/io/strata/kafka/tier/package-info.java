/**
 * Which segment lives where: the registry of hot segments, their placement, and what a restart
 * finds of them.
 *
 * <p>Public doors: {@link io.strata.kafka.tier.SegmentFiles}, through which the file system
 * provider asks about a file. All paths here are the JDK's own, never the provider's.
 */
@NullMarked
package io.strata.kafka.tier;

import org.jspecify.annotations.NullMarked;
