package io.strata.kafka.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.migration.FailureCause;
import io.strata.kafka.migration.remote.RemoteStats;
import io.strata.kafka.migration.remote.RemoteStats.Cause;
import io.strata.kafka.migration.remote.RemoteStats.Operation;
import java.util.Set;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The remote tier's metrics as JMX shows them. */
class RemoteMetricsTest {
  private static final int OPERATIONS = Operation.values().length;
  private static final int LEVELS = 2;

  private final MBeanServer server = MBeanServerFactory.newMBeanServer();
  private RemoteStats stats = RemoteFigures.some();

  @Test
  void publishesEveryMetricOfTheCatalogueInJmx() throws JMException {
    try (RemoteMetrics metrics = RemoteMetrics.publish(() -> stats, server)) {
      assertThat(metrics).isNotNull();
      assertThat(beans()).hasSize(expectedValues());
    }
    assertThat(beans()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "RemoteOperation,name=Total,operation=copy | 11",
        "RemoteOperation,name=BytesTotal,operation=fetch | 22",
        "RemoteOperation,name=Running,operation=index | 33",
        "RemoteOperation,name=LatencyP50,operation=delete | 44",
        "RemoteOperation,name=LatencyP99,operation=copy | 15",
        "RemoteOperation,name=LatencyMax,operation=copy | 16",
        "RemoteOperation,name=FailuresTotal,operation=copy,cause=full | 17",
        "RemoteOperation,name=FailuresTotal,operation=fetch,cause=not-found | 27",
        "RemoteOperation,name=FailuresTotal,operation=fetch,cause=io | 0",
        "RemoteLevel,name=CapacityBytes,level=ssd | 1001",
        "RemoteLevel,name=UsedBytes,level=hdd | 2002",
        "RemoteLevel,name=Segments,level=ssd | 1003",
        "RemoteLevel,name=Directories,level=ssd | 1004",
        "RemoteLevel,name=UnavailableDirectories,level=ssd | 1005",
        "RemoteLevel,name=CopiedBytesTotal,level=ssd | 1006",
        "RemoteLevel,name=FetchedBytesTotal,level=ssd | 1007",
        "RemoteLevel,name=DeletedBytesTotal,level=hdd | 2008",
        "RemoteLevel,name=DestagedBytesTotal,level=ssd | 101",
        "RemoteLevel,name=DestagedSegmentsTotal,level=ssd | 102",
        "RemoteLevel,name=PromotedBytesTotal,level=ssd | 103",
        "RemoteLevel,name=PromotedSegmentsTotal,level=ssd | 104",
        "RemoteLevel,name=EvictedBytesTotal,level=ssd | 105",
        "RemoteLevel,name=EvictedSegmentsTotal,level=ssd | 106",
        "RemoteLevel,name=Draining,level=ssd | 1",
        "RemoteLevel,name=BacklogBytes,level=ssd | 107",
        "RemoteLevel,name=BacklogBytes,level=hdd | 0",
        "Remote,name=OldestUncopiedAge | 90",
        "Remote,name=StuckThreads | 91",
        "Remote,name=LinkedBytesTotal | 50",
        "RemoteCache,name=CapacityBytes | 61",
        "RemoteCache,name=UsedBytes | 62",
        "RemoteCache,name=HitsTotal | 63",
        "RemoteCache,name=MissesTotal | 64",
        "RemoteCache,name=EvictionsTotal | 65",
        "RemoteReadAhead,name=BytesTotal | 71",
        "RemoteReadAhead,name=UsedBytesTotal | 72",
        "RemoteReadAhead,name=WastedBytesTotal | 73",
        "RemoteScrub,name=RoundsTotal | 81",
        "RemoteScrub,name=ObjectsTotal | 82",
        "RemoteScrub,name=BytesTotal | 83",
        "RemoteScrub,name=CorruptObjectsTotal | 84",
        "RemoteScrub,name=MissingObjectsTotal | 85",
        "RemoteScrub,name=OrphansRemovedTotal | 86",
        "RemoteScrub,name=LastEnd | 87",
        "RemoteMigration,name=Active | 1",
        "RemoteMigration,name=Queued | 111",
        "RemoteMigration,name=InFlight | 112",
        "RemoteMigration,name=DownBytesPerSecond | 114",
        "RemoteMigration,name=UpBytesPerSecond | 115",
        "RemoteMigration,name=DestageLatencyP99 | 116",
        "RemoteMigration,name=DestageLatencyMax | 117",
        "RemoteMigration,name=PromoteLatencyP99 | 118",
        "RemoteMigration,name=PromoteLatencyMax | 119",
        "RemoteMigration,name=FailuresTotal,cause=no-space | 120",
        "RemoteMigration,name=CancelledTotal | 121",
        "RemoteMigration,name=BackingOff | 123",
        "RemoteMigration,name=RoundsTotal | 124",
        "RemoteMigration,name=FailedRoundsTotal | 125",
        "RemoteMigration,name=LastRoundTime | 126",
      })
  void showsEachFigure(String name, double expected) throws JMException {
    try (RemoteMetrics metrics = RemoteMetrics.publish(() -> stats, server)) {
      assertThat(metrics).isNotNull();
      assertThat(value(name)).isEqualTo(expected);
    }
  }

  @Test
  void aBrokerThatMovesNothingShowsZeros() throws JMException {
    stats = RemoteFigures.quiet();
    try (RemoteMetrics metrics = RemoteMetrics.publish(() -> stats, server)) {
      assertThat(metrics).isNotNull();
      assertThat(value("RemoteMigration,name=Active")).isZero();
      assertThat(value("RemoteMigration,name=RoundsTotal")).isZero();
      assertThat(value("RemoteMigration,name=FailuresTotal,cause=no-space")).isZero();
      assertThat(value("RemoteLevel,name=DestagedBytesTotal,level=ssd")).isZero();
      assertThat(value("Remote,name=OldestUncopiedAge")).isZero();
      assertThat(value("RemoteScrub,name=LastEnd")).isNaN();
    }
  }

  private static int expectedValues() {
    int values = 0;
    for (RemoteMetric metric : RemoteMetric.values()) {
      RemoteReading reading = metric.reading();
      if (reading instanceof RemoteReading.OperationReading) {
        values += OPERATIONS;
      } else if (reading instanceof RemoteReading.OperationCauseReading) {
        values += OPERATIONS * Cause.values().length;
      } else if (reading instanceof RemoteReading.LevelReading) {
        values += LEVELS;
      } else if (reading instanceof RemoteReading.EngineCauseReading) {
        values += FailureCause.values().length;
      } else {
        values++;
      }
    }
    return values;
  }

  private Set<ObjectName> beans() throws JMException {
    return server.queryNames(new ObjectName("io.strata.kafka:*"), null);
  }

  private double value(String name) throws JMException {
    return ((Number) server.getAttribute(new ObjectName("io.strata.kafka:type=" + name), "Value"))
        .doubleValue();
  }
}
