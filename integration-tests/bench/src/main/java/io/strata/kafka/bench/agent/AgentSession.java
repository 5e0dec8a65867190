package io.strata.kafka.bench.agent;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.bench.load.GroupInterval;
import io.strata.kafka.bench.load.LoadClock;
import io.strata.kafka.bench.load.LoadListener;
import io.strata.kafka.bench.load.PhaseLoad;
import io.strata.kafka.bench.scenario.Scenario;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * An agent: takes orders, and reports. Orders come one at a time.
 *
 * <p>Thread safety: reports are made one at a time, by several threads.
 */
final class AgentSession implements AutoCloseable {
  private final Object lock = new Object();

  @GuardedBy("lock")
  private final Consumer<AgentReport> reports;

  private Optional<PhaseLoad> load = Optional.empty();

  AgentSession(Consumer<AgentReport> reports) {
    this.reports = reports;
  }

  void take(AgentOrder order) {
    try {
      carryOut(order);
    } catch (Exception e) {
      report(new AgentReport.Failed(e.toString()));
    }
  }

  private void carryOut(AgentOrder order) throws Exception {
    if (order instanceof AgentOrder.Ask ask) {
      report(
          new AgentReport.Answer(
              ask.number(), ToolVersion.text(), HostInfo.here(), new LoadClock(0).micros()));
    } else if (order instanceof AgentOrder.Prepare prepare) {
      PhaseLoad phase =
          new PhaseLoad(
              Scenario.of(prepare.scenario()),
              prepare.phase(),
              prepare.host(),
              prepare.topics(),
              new LoadClock(prepare.offsetMicros()),
              new Reporting());
      load = Optional.of(phase);
      phase.prepare();
      report(new AgentReport.Prepared());
    } else if (order instanceof AgentOrder.Start start) {
      load.orElseThrow().start(start.micros());
    } else if (order instanceof AgentOrder.Stop stop) {
      load.orElseThrow().stop(stop.group());
    } else if (order instanceof AgentOrder.ProducersEnded) {
      load.orElseThrow().producersEnded();
    } else if (order instanceof AgentOrder.End) {
      close();
      report(new AgentReport.Ended());
    }
  }

  private void report(AgentReport report) {
    synchronized (lock) {
      reports.accept(report);
    }
  }

  @Override
  public void close() {
    load.ifPresent(PhaseLoad::close);
    load = Optional.empty();
  }

  private final class Reporting implements LoadListener {

    @Override
    public void interval(int index, double from, double to, Map<String, GroupInterval> groups) {
      Map<String, AgentReport.Work> work = new LinkedHashMap<>();
      groups.forEach(
          (name, group) ->
              work.put(
                  name,
                  new AgentReport.Work(
                      group.records(),
                      group.bytes(),
                      group.errors(),
                      Histograms.encode(group.latencies()))));
      report(new AgentReport.Interval(index, from, to, work));
    }

    @Override
    public void ended(String group, double seconds) {
      report(new AgentReport.GroupEnded(group, seconds));
    }

    @Override
    public void failed(String what) {
      report(new AgentReport.Failed(what));
    }

    @Override
    public void finished() {
      report(new AgentReport.Finished());
    }
  }
}
