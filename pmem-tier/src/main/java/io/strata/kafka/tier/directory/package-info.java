/**
 * A log directory and a pool as a pair: who owns it, which pools it has segments in, of which
 * moment both are, what Kafka keeps in it, and how a change of it becomes durable.
 *
 * <p>Doors: {@link io.strata.kafka.tier.directory.LogDirectories} and {@link
 * io.strata.kafka.tier.directory.PoolSet}; {@link io.strata.kafka.tier.directory.SegmentFiles},
 * through which the file system provider asks about a file.
 */
@NullMarked
package io.strata.kafka.tier.directory;

import org.jspecify.annotations.NullMarked;
