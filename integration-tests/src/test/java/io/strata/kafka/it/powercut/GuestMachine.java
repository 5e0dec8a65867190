package io.strata.kafka.it.powercut;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.strata.kafka.it.harness.FreePorts;
import io.strata.kafka.it.harness.JavaProcess;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A virtual machine with an emulated NVDIMM and a disk, both files that outlive it, and what runs
 * in it. Built by {@code powercut/build-guest.sh}; what it says is in {@code
 * powercut/guest-run.sh}. Not thread-safe.
 */
final class GuestMachine implements AutoCloseable {

  private static final Pattern GIVEN_UP = Pattern.compile("GUEST FAILED.*|Kernel panic.*");

  /** A slow machine on a busy host fails the kernel's check of its timer. */
  private static final String KERNEL =
      "console=ttyS0 quiet panic=-1 mitigations=off no_timer_check nowatchdog";

  private final Path guest;
  private final Path folder;
  private final List<Integer> ports;
  private final int commands;
  private final List<Map<String, String>> brokers;
  private Optional<Process> process = Optional.empty();

  /** To the commands of the present boot. */
  private Optional<Socket> line = Optional.empty();

  private int boots;
  private int asked;

  /**
   * A machine that is off.
   *
   * @param guest where kernel, initrd and root image are
   * @param folder with {@code disk.img} and {@code pmem.img}; receives the rest
   */
  GuestMachine(Path guest, Path folder, Map<String, String> properties) {
    this(guest, folder, List.of(properties));
  }

  /** A machine that is off, for so many brokers with these properties. */
  GuestMachine(Path guest, Path folder, List<Map<String, String>> brokers) {
    List<Integer> found = FreePorts.find(brokers.size() + 1);
    this.guest = guest;
    this.folder = folder;
    this.ports = found.subList(1, found.size());
    this.commands = found.get(0);
    this.brokers = List.copyOf(brokers);
  }

  /**
   * What a boot is for.
   *
   * @param classes a folder with a folder {@code classes} for the class path, before our jar
   */
  record Boot(String mode, boolean strata, List<String> jvmOptions, Optional<Path> classes) {}

  /** The addresses of all brokers. */
  String bootstrap() {
    return ports.stream().map(GuestMachine::address).collect(Collectors.joining(","));
  }

  private static String address(int port) {
    return "127.0.0.1:" + port;
  }

  /** Switches it on; does not wait. */
  void start(Boot boot) throws IOException, InterruptedException {
    if (process.isPresent()) {
      throw new IllegalStateException("The machine in " + folder + " already runs");
    }
    Path payload = payload(boot);
    hangUp();
    boots++;
    List<String> command = new ArrayList<>();
    command.add("qemu-system-x86_64");
    command.addAll(List.of("-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2"));
    command.addAll(List.of("-m", "2G,slots=2,maxmem=8G", "-machine", "q35,nvdimm=on"));
    long size = Files.size(folder.resolve("pmem.img"));
    String memory = "memory-backend-file,id=nv,share=on,align=2M,size=" + size;
    command.addAll(List.of("-object", memory + ",mem-path=" + folder.resolve("pmem.img")));
    command.addAll(List.of("-device", "nvdimm,memdev=nv,id=nvdimm"));
    command.addAll(List.of("-kernel", guest.resolve("kernel").toString()));
    command.addAll(List.of("-initrd", guest.resolve("initrd").toString()));
    command.addAll(List.of("-append", KERNEL));
    command.addAll(List.of("-no-reboot", "-display", "none", "-monitor", "none"));
    command.addAll(drive(guest.resolve("root.img"), true));
    command.addAll(drive(folder.resolve("disk.img"), false));
    command.addAll(drive(payload, true));
    String network =
        ports.stream()
            .map(port -> ",hostfwd=tcp:" + address(port) + "-:" + port)
            .collect(Collectors.joining("", "user,id=net", ""));
    command.addAll(List.of("-netdev", network, "-device", "virtio-net-pci,netdev=net"));
    command.addAll(List.of("-serial", "file:" + console()));
    command.addAll(List.of("-serial", "tcp:127.0.0.1:" + commands + ",server=on,wait=off"));
    command.addAll(List.of("-pidfile", guest.resolve("qemu.pid").toString()));
    Process started =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("qemu-" + boots + ".log").toFile())
            .start();
    process = Optional.of(started);
  }

  /**
   * Written files stay in the host's page cache, which outlives the machine: so no sync is lost.
   */
  private static List<String> drive(Path file, boolean readOnly) {
    String options = ",if=virtio,format=raw,cache=unsafe" + (readOnly ? ",readonly=on" : "");
    return List.of("-drive", "file=" + file + options);
  }

  private Path payload(Boot boot) throws IOException, InterruptedException {
    Path tree = Files.createDirectories(folder.resolve("payload"));
    for (int i = 0; i < ports.size(); i++) {
      int port = ports.get(i);
      Map<String, String> lines = new TreeMap<>(brokers.get(i));
      String controller = i == 0 ? ",CONTROLLER://127.0.0.1:9093" : "";
      lines.put("listeners", "PLAINTEXT://0.0.0.0:" + port + controller);
      lines.put("advertised.listeners", "PLAINTEXT://" + address(port));
      StringBuilder text = new StringBuilder();
      lines.forEach((key, value) -> text.append(key).append('=').append(value).append('\n'));
      String name = i == 0 ? "server.properties" : "server-" + (i + 1) + ".properties";
      Files.writeString(tree.resolve(name), text);
    }
    Files.writeString(
        tree.resolve("arguments"),
        String.join(
            "\n",
            "MODE=" + boot.mode(),
            "OPTIONS='" + String.join(" ", boot.jvmOptions()) + "'",
            "CLASSES=" + (boot.classes().isPresent() ? ":/payload/classes" : ""),
            "STRATA=" + (boot.strata() ? "yes" : "no"),
            "AT=" + System.currentTimeMillis() / 1_000,
            ""));
    Path tar = folder.resolve("payload.tar");
    List<String> command = new ArrayList<>(List.of("tar", "-cf", tar.toString()));
    command.addAll(List.of("-C", tree.toString(), "."));
    command.addAll(List.of("-C", guest.resolve("payload").toString(), "strata.jar"));
    command.addAll(List.of("guest-run.sh", "guest-nfs.sh"));
    boot.classes().ifPresent(above -> command.addAll(List.of("-C", above.toString(), "classes")));
    run(command);
    return tar;
  }

  /** Runs a tool of the host. */
  static void run(List<String> command) throws IOException, InterruptedException {
    Process tool = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(tool.getInputStream().readAllBytes(), UTF_8);
    if (tool.waitFor() != 0) {
      throw new IOException(String.join(" ", command) + " failed: " + said);
    }
  }

  /** Waits for a line of the present boot that the pattern finds. */
  Matcher await(Pattern pattern, Duration limit) throws IOException, InterruptedException {
    long end = System.nanoTime() + limit.toNanos();
    while (true) {
      boolean alive = isOn();
      String text = said();
      Matcher matcher = pattern.matcher(text);
      if (matcher.find()) {
        return matcher;
      }
      Matcher givenUp = GIVEN_UP.matcher(text);
      if (givenUp.find() || !alive || System.nanoTime() > end) {
        throw new AssertionError(
            "no line with '%s' %s; %s ends:%n%s"
                .formatted(
                    pattern,
                    alive ? "within " + limit.toSeconds() + " s" : "before the machine ended",
                    console(),
                    JavaProcess.tail(text)));
      }
      TimeUnit.MILLISECONDS.sleep(100);
    }
  }

  /**
   * Gives the guest a command, and waits until it says that it is done; returns what it ended with.
   */
  int ask(String command, String answer, Duration limit) throws IOException, InterruptedException {
    String number = Integer.toString(++asked);
    tell(command + " " + number);
    Pattern done = Pattern.compile("GUEST " + answer + " " + number + " (\\d+)");
    return Integer.parseInt(await(done, limit).group(1));
  }

  /** Gives the guest a command. A connection that closes takes what is not read yet with it. */
  void tell(String command) throws IOException {
    Socket to =
        line.isPresent() ? line.get() : new Socket(InetAddress.getLoopbackAddress(), commands);
    line = Optional.of(to);
    OutputStream out = to.getOutputStream();
    out.write((command + "\n").getBytes(UTF_8));
    out.flush();
  }

  /** Everything on the console of the present boot. */
  String said() throws IOException {
    return Files.exists(console()) ? Files.readString(console(), ISO_8859_1) : "";
  }

  /** The lines of the present boot that contain any of the texts. */
  List<String> lines(Collection<String> texts) throws IOException {
    return said().lines().filter(line -> texts.stream().anyMatch(line::contains)).toList();
  }

  boolean isOn() {
    return process.isPresent() && process.get().isAlive();
  }

  /** Waits until it has switched itself off. */
  void awaitOff(Duration limit) throws InterruptedException {
    if (!process.orElseThrow().waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
      throw new AssertionError(
          "the machine still ran after " + limit.toSeconds() + " s; see " + console());
    }
    process = Optional.empty();
  }

  /** SIGKILL: what was in its memory and caches is gone. */
  void cut() throws InterruptedException {
    int unused = process.orElseThrow().destroyForcibly().waitFor();
    process = Optional.empty();
  }

  private void hangUp() {
    try {
      if (line.isPresent()) {
        line.get().close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      line = Optional.empty();
    }
  }

  @Override
  public void close() {
    hangUp();
    process.ifPresent(running -> running.destroyForcibly().onExit().join());
    process = Optional.empty();
  }

  private Path console() {
    return folder.resolve("console-" + boots + ".log");
  }
}
