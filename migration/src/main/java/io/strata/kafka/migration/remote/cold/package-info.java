/**
 * The lowest level in the hands of another {@code RemoteStorageManager}: how it is loaded, called
 * and closed.
 *
 * <p>Public door: {@link io.strata.kafka.migration.remote.cold.ColdManager}.
 */
@NullMarked
package io.strata.kafka.migration.remote.cold;

import org.jspecify.annotations.NullMarked;
