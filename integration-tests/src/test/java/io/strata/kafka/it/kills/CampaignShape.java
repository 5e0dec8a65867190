package io.strata.kafka.it.kills;

import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * How the brokers of one round of a campaign are set up: drawn at random, so that a campaign meets
 * all that Strata can do.
 *
 * @param nodes one broker, or three
 * @param two whether there is a second tier of pools
 * @param remote whether sealed segments go to a remote store, and some of them stay there alone
 * @param type of the first tier's pool
 * @param settings of Strata
 */
record CampaignShape(
    int nodes, boolean two, boolean remote, String type, Map<String, String> settings) {

  static CampaignShape draw(int nodes, Random random) {
    Map<String, String> settings = new TreeMap<>();
    settings.put("strata.migration.threshold", pick(random, "0", "0", "0.1", "0.5", "-1"));
    settings.put("strata.migration.mode", pick(random, "eager", "threshold"));
    settings.put("strata.migration.promote", pick(random, "true", "false"));
    settings.put("strata.migration.threads", pick(random, "1", "2", "4"));
    settings.put("strata.topics.exclude", pick(random, "__.*", "none"));
    return new CampaignShape(
        nodes,
        random.nextInt(3) == 0,
        random.nextInt(2) == 0,
        pick(random, "mapped", "mapped", "mapped", "file"),
        settings);
  }

  private static String pick(Random random, String... choices) {
    return choices[random.nextInt(choices.length)];
  }
}
