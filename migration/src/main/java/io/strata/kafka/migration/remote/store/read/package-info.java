/**
 * Reads of a copy, chunk by chunk, each checked.
 *
 * <p>Door: {@link io.strata.kafka.migration.remote.store.read.LogReads}.
 */
@NullMarked
package io.strata.kafka.migration.remote.store.read;

import org.jspecify.annotations.NullMarked;
