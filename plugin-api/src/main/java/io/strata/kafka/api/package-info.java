/** What others implement against: tiers, segment views, placement and policies. No I/O. */
@NullMarked
package io.strata.kafka.api;

import org.jspecify.annotations.NullMarked;
