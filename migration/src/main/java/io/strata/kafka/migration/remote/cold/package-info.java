/**
 * The lowest level in the hands of another {@code RemoteStorageManager}: how it is loaded, called
 * and closed.
 *
 * <p>Public doors: {@link io.strata.kafka.migration.remote.cold.ColdManager}, created from {@link
 * io.strata.kafka.migration.remote.cold.ColdSettings}, and {@link
 * io.strata.kafka.migration.remote.cold.RetriableFailures}, which tells failures apart that a later
 * try may not meet again.
 */
@NullMarked
package io.strata.kafka.migration.remote.cold;

import org.jspecify.annotations.NullMarked;
