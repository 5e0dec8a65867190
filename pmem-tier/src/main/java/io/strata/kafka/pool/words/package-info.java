/**
 * The words of a pool file: its superblock, slots, session and moments, read and checked.
 *
 * <p>Doors: {@link io.strata.kafka.pool.words.Superblock}, {@link
 * io.strata.kafka.pool.words.SlotSnapshot}, {@link io.strata.kafka.pool.words.Session}; {@link
 * io.strata.kafka.pool.words.PoolException}, by which all that read a pool refuse it.
 */
@NullMarked
package io.strata.kafka.pool.words;

import org.jspecify.annotations.NullMarked;
