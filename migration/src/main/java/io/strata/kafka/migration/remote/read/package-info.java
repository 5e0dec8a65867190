/**
 * How segments of the store are read: in checked chunks, through a bounded cache, ahead of the
 * reader where it reads on. Knows no Kafka, and not where the bytes come from.
 *
 * <p>Public doors: {@link io.strata.kafka.migration.remote.read.ChunkedReader} over a {@link
 * io.strata.kafka.migration.remote.read.ChunkCache}; {@link
 * io.strata.kafka.migration.remote.read.ChunkSource}, which others implement; {@link
 * io.strata.kafka.migration.remote.read.CacheStats} and {@link
 * io.strata.kafka.migration.remote.read.ReadAheadStats}.
 */
@NullMarked
package io.strata.kafka.migration.remote.read;

import org.jspecify.annotations.NullMarked;
