/**
 * A virtual machine whose power is cut, and one that is an NFS server which goes and comes back;
 * {@code powercut/run.sh} runs both. Open {@link io.strata.kafka.it.powercut.PowerCuts} first.
 */
@NullMarked
package io.strata.kafka.it.powercut;

import org.jspecify.annotations.NullMarked;
