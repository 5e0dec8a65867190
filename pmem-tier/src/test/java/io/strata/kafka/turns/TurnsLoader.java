package io.strata.kafka.turns;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Loads the classes of some packages anew, and has them take turns: before each access to a field
 * and each call of an atomic, and at each lock and monitor.
 *
 * <p>Thread safety: as any class loader's.
 */
final class TurnsLoader extends ClassLoader {

  private static final String TURNS = Type.getInternalName(Turns.class);
  private static final String LOCKS = "java/util/concurrent/locks/Reentrant";
  private static final Set<String> LOCK_METHODS =
      Set.of("lock", "unlock", "tryLock", "readLock", "writeLock");
  private static final String ATOMICS = "java/util/concurrent/atomic/";
  private static final String MAP = "java/util/concurrent/ConcurrentMap";
  private static final Set<String> MAP_METHODS =
      Set.of("compute", "computeIfPresent", "computeIfAbsent", "put", "putIfAbsent", "remove");

  private final Set<String> packages;
  private final Map<String, byte[]> changed;

  /**
   * A loader.
   *
   * @param packages of the classes: all that hold a lock while they call each other
   * @param changed by name, classes that are taken instead of those on the class path
   */
  TurnsLoader(Set<String> packages, Map<String, byte[]> changed) {
    super(TurnsLoader.class.getClassLoader());
    this.packages = Set.copyOf(packages);
    this.changed = Map.copyOf(changed);
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    synchronized (getClassLoadingLock(name)) {
      if (!packages.contains(name.substring(0, Math.max(0, name.lastIndexOf('.'))))) {
        return super.loadClass(name, resolve);
      }
      Class<?> known = findLoadedClass(name);
      if (known != null) {
        return known;
      }
      byte[] bytes = rewritten(read(name));
      Class<?> defined = defineClass(name, bytes, 0, bytes.length);
      // Others would wait for the end of its initialisation, whoever has the turn.
      Turns.keepingTheTurn(() -> initialise(name));
      return defined;
    }
  }

  private void initialise(String name) {
    try {
      Class<?> unused = Class.forName(name, true, this);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  private byte[] read(String name) throws ClassNotFoundException {
    byte[] instead = changed.get(name);
    if (instead != null) {
      return instead;
    }
    try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
      if (in == null) {
        throw new ClassNotFoundException(name);
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }

  private static byte[] rewritten(byte[] original) {
    ClassReader reader = new ClassReader(original);
    ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
    reader.accept(
        new ClassVisitor(Opcodes.ASM9, writer) {
          @Override
          public MethodVisitor visitMethod(
              int access, String name, String descriptor, String signature, String[] exceptions) {
            boolean isSynchronized = (access & Opcodes.ACC_SYNCHRONIZED) != 0;
            MethodVisitor method =
                super.visitMethod(
                    access & ~Opcodes.ACC_SYNCHRONIZED, name, descriptor, signature, exceptions);
            // A constructor's object is nobody else's yet.
            return name.startsWith("<") ? method : new Rewriter(method, isSynchronized);
          }
        },
        0);
    return writer.toByteArray();
  }

  private static final class Rewriter extends MethodVisitor {
    private final boolean isSynchronized;

    Rewriter(MethodVisitor next, boolean isSynchronized) {
      super(Opcodes.ASM9, next);
      this.isSynchronized = isSynchronized;
    }

    private void call(String name, String descriptor) {
      super.visitMethodInsn(Opcodes.INVOKESTATIC, TURNS, name, descriptor, false);
    }

    @Override
    public void visitCode() {
      super.visitCode();
      if (isSynchronized) {
        super.visitVarInsn(Opcodes.ALOAD, 0);
        call("enter", "(Ljava/lang/Object;)V");
      }
    }

    @Override
    public void visitInsn(int opcode) {
      boolean leaves =
          (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) || opcode == Opcodes.ATHROW;
      if (opcode == Opcodes.MONITORENTER) {
        call("enter", "(Ljava/lang/Object;)V");
      } else if (opcode == Opcodes.MONITOREXIT) {
        call("exit", "(Ljava/lang/Object;)V");
      } else {
        if (isSynchronized && leaves) {
          super.visitVarInsn(Opcodes.ALOAD, 0);
          call("exit", "(Ljava/lang/Object;)V");
        }
        super.visitInsn(opcode);
      }
    }

    @Override
    public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
      call("step", "()V");
      super.visitFieldInsn(opcode, owner, name, descriptor);
    }

    @Override
    public void visitMethodInsn(
        int opcode, String owner, String name, String descriptor, boolean isInterface) {
      if (isReplaced(owner, name)) {
        call(name, withReceiver(owner, descriptor));
      } else {
        if (owner.startsWith(ATOMICS) || owner.startsWith(MAP)) {
          call("step", "()V");
        }
        super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
      }
    }

    private static boolean isReplaced(String owner, String name) {
      return (owner.startsWith(LOCKS) && LOCK_METHODS.contains(name))
          || (owner.equals(MAP) && MAP_METHODS.contains(name));
    }

    private static String withReceiver(String owner, String descriptor) {
      return "(L" + owner + ";" + descriptor.substring(1);
    }

    @Override
    public void visitInvokeDynamicInsn(
        String name, String descriptor, Handle bootstrap, Object... arguments) {
      Object[] replaced =
          Arrays.stream(arguments)
              .map(argument -> argument instanceof Handle handle ? replaced(handle) : argument)
              .toArray();
      super.visitInvokeDynamicInsn(name, descriptor, bootstrap, replaced);
    }

    /** A method of a lock that is referred to by its name. */
    private static Handle replaced(Handle handle) {
      return isReplaced(handle.getOwner(), handle.getName())
          ? new Handle(
              Opcodes.H_INVOKESTATIC,
              TURNS,
              handle.getName(),
              withReceiver(handle.getOwner(), handle.getDesc()),
              false)
          : handle;
    }
  }
}
