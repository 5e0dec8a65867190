/**
 * Tiered storage with Strata's manager, on one broker and on three, with pools and without: what is
 * copied, read, moved and deleted, and what a kill leaves in the store. Open {@link
 * io.strata.kafka.it.remote.RemoteFeatures} first.
 */
@NullMarked
package io.strata.kafka.it.remote;

import org.jspecify.annotations.NullMarked;
