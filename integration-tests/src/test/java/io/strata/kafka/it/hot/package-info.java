/**
 * A broker with pools that does what a broker does: segments are placed, move down and up, are
 * deleted, compacted and reconfigured, and no client sees it. Open {@link
 * io.strata.kafka.it.hot.BrokerFeatures} first: its scenarios run on a stock broker and on two with
 * pools.
 */
@NullMarked
package io.strata.kafka.it.hot;

import org.jspecify.annotations.NullMarked;
