/**
 * A directory of the store: its calls, which may hang or fail, its lock, its listing, its
 * leftovers.
 *
 * <p>Door: {@link io.strata.kafka.migration.remote.store.disk.StoreDirectory}, reached through
 * {@link io.strata.kafka.migration.remote.store.disk.DirectoryAccess}.
 */
@NullMarked
package io.strata.kafka.migration.remote.store.disk;

import org.jspecify.annotations.NullMarked;
