/**
 * The tier of hot segments as Kafka's calls meet it: a file is opened, renamed, deleted, placed.
 * The rooms below hold what each of these leads to.
 *
 * <p>Door: {@link io.strata.kafka.tier.HotTier}. Rooms, lowest first: {@code spec}, {@code
 * directory}, {@code files}, {@code durable}, {@code space}, {@code moves}, {@code start}, this
 * package, {@code offline}. All paths in them are the JDK's own, never the provider's.
 */
@NullMarked
package io.strata.kafka.tier;

import org.jspecify.annotations.NullMarked;
