/**
 * Where each byte of a pool lies: stateless layout classes, described once, with diagrams that a
 * test holds against the offsets.
 *
 * <p>Public doors: {@link io.strata.kafka.layout.SuperblockLayout}, {@link
 * io.strata.kafka.layout.SessionLayout}, {@link io.strata.kafka.layout.MomentLayout}, {@link
 * io.strata.kafka.layout.SlotLayout} and {@link io.strata.kafka.layout.CheckedWord}. Everything is
 * little-endian. This package does no I/O.
 */
@NullMarked
package io.strata.kafka.layout;

import org.jspecify.annotations.NullMarked;
