package io.strata.kafka.tier;

/**
 * The background work that moves of segments lead to. As safe as its parts.
 *
 * @param durable makes log files' names durable
 * @param release frees slots that segments have left
 * @param times keeps log files' modification times
 */
record Upkeep(DurableNames durable, SlotRelease release, ModificationTimes times) {}
