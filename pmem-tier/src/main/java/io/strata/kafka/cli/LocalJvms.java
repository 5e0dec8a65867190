package io.strata.kafka.cli;

import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import com.sun.tools.attach.VirtualMachineDescriptor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The JVMs of this machine and user, by the attach API. Everything that needs the module {@code
 * jdk.attach} is here: without it the first call of a method throws {@link NoClassDefFoundError}.
 *
 * <p>Thread safety: stateless.
 */
final class LocalJvms {
  private LocalJvms() {}

  /**
   * One JVM.
   *
   * @param pid its process
   * @param command its main class or jar, with arguments
   */
  record Jvm(long pid, String command) {}

  /** All JVMs that this user can see, this one excepted. */
  static List<Jvm> list() {
    List<Jvm> jvms = new ArrayList<>();
    for (VirtualMachineDescriptor machine : VirtualMachine.list()) {
      long pid = Long.parseLong(machine.id());
      if (pid != ProcessHandle.current().pid()) {
        jvms.add(new Jvm(pid, machine.displayName()));
      }
    }
    return jvms;
  }

  /**
   * The address of the JVM's management agent, which is started if it was not running. It listens
   * on this machine only.
   *
   * @throws IOException if there is no such JVM, or attaching to it is not permitted
   */
  static String managementAddress(long pid) throws IOException {
    try {
      VirtualMachine machine = VirtualMachine.attach(Long.toString(pid));
      try {
        return machine.startLocalManagementAgent();
      } finally {
        machine.detach();
      }
    } catch (AttachNotSupportedException e) {
      throw new IOException(e.getMessage(), e);
    }
  }
}
