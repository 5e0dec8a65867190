/**
 * A directory of the store: its calls, which may hang or fail, its lock, its listing, its
 * leftovers.
 *
 * <p>Door: {@link io.strata.kafka.migration.remote.store.disk.StoreDirectory}, a {@link
 * io.strata.kafka.migration.remote.store.disk.DirectoryAccess}; its calls are made by {@link
 * io.strata.kafka.migration.remote.store.disk.Deadlines}, which others use too.
 */
@NullMarked
package io.strata.kafka.migration.remote.store.disk;

import org.jspecify.annotations.NullMarked;
