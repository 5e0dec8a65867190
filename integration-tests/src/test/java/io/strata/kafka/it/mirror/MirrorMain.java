package io.strata.kafka.it.mirror;

import static net.bytebuddy.matcher.ElementMatchers.named;
import static net.bytebuddy.matcher.ElementMatchers.takesArguments;

import java.lang.instrument.Instrumentation;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.agent.ByteBuddyAgent;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.dynamic.loading.ClassReloadingStrategy;

/**
 * Makes Kafka's {@code LocalTieredStorage} do everything with a second manager too, and then is the
 * main class that its first argument names, with the others. The class itself stays as it was
 * published: it is changed in memory, and keeps what the tests look at, its files and its history.
 */
public final class MirrorMain {

  private static final String SUBJECT =
      "org.apache.kafka.server.log.remote.storage.LocalTieredStorage";

  private MirrorMain() {}

  /**
   * Runs.
   *
   * @param arguments a main class, and its arguments
   */
  public static void main(String[] arguments) throws Exception {
    Instrumentation unused = ByteBuddyAgent.install();
    new ByteBuddy()
        .redefine(Class.forName(SUBJECT))
        .visit(Advice.to(MirrorAdvice.Configure.class).on(named("configure")))
        .visit(Advice.to(MirrorAdvice.Copy.class).on(named("copyLogSegmentData")))
        .visit(
            Advice.to(MirrorAdvice.Fetch.class).on(named("fetchLogSegment").and(takesArguments(2))))
        .visit(
            Advice.to(MirrorAdvice.FetchRange.class)
                .on(named("fetchLogSegment").and(takesArguments(3))))
        .visit(Advice.to(MirrorAdvice.FetchIndex.class).on(named("fetchIndex")))
        .visit(Advice.to(MirrorAdvice.Delete.class).on(named("deleteLogSegmentData")))
        .visit(Advice.to(MirrorAdvice.Close.class).on(named("close")))
        .make()
        .load(MirrorMain.class.getClassLoader(), ClassReloadingStrategy.fromInstalledAgent());
    Runtime.getRuntime().addShutdownHook(new Thread(Mirror::report, "mirror-report"));
    String[] rest = new String[arguments.length - 1];
    System.arraycopy(arguments, 1, rest, 0, rest.length);
    Class.forName(arguments[0]).getMethod("main", String[].class).invoke(null, (Object) rest);
  }
}
