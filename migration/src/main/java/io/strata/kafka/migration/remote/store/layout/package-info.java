/**
 * The contents of a store's files: keys, manifests, checksums, names.
 *
 * <p>Door: {@link io.strata.kafka.migration.remote.store.layout.Manifest}.
 */
@NullMarked
package io.strata.kafka.migration.remote.store.layout;

import org.jspecify.annotations.NullMarked;
