/**
 * Brokers that die by {@code kill -9} or stand still at random, or at each stage of a move, under
 * every kind of load. Open {@link io.strata.kafka.it.kills.KillCampaign} first; {@link
 * io.strata.kafka.it.kills.CampaignLedger} knows what must be there.
 */
@NullMarked
package io.strata.kafka.it.kills;

import org.jspecify.annotations.NullMarked;
