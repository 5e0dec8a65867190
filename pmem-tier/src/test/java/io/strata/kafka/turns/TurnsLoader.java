package io.strata.kafka.turns;

import io.strata.kafka.segment.SegmentEvents;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Loads classes once more. Those of some packages take turns: before each access to a field and
 * each call of an atomic, and at each lock and monitor. What the product's own do there is noted in
 * {@link Order}, whether they take turns or not; tests share what they like.
 *
 * <p>Thread safety: as any class loader's.
 */
final class TurnsLoader extends ClassLoader {

  /** Packages whose accesses are ordered, or race, whichever threads take turns. */
  static final Set<String> ORDERED =
      Set.of("io.strata.kafka.pool", "io.strata.kafka.segment", "io.strata.kafka.tier");

  private static final Pattern PACKAGE = Pattern.compile("io\\.strata\\.kafka\\.[a-z]+");
  private static final String TURNS = Type.getInternalName(Turns.class);
  private static final String PRODUCT =
      SegmentEvents.class.getProtectionDomain().getCodeSource().getLocation().toString();
  private static final String LOCKS = "java/util/concurrent/locks/Reentrant";
  private static final Set<String> LOCK_METHODS =
      Set.of("lock", "unlock", "tryLock", "readLock", "writeLock");
  private static final String ATOMICS = "java/util/concurrent/atomic/";
  private static final String MAP = "java/util/concurrent/ConcurrentMap";
  private static final Set<String> MAP_METHODS =
      Set.of(
          "compute",
          "computeIfPresent",
          "computeIfAbsent",
          "put",
          "putIfAbsent",
          "remove",
          "get",
          "getOrDefault",
          "containsKey");

  /** No method of the product has as many. */
  private static final int UNUSED_LOCALS = 250;

  private final Set<String> packages;
  private final Map<String, byte[]> changed;
  private final Optional<Weaker> weaker;

  /** By class and name. */
  private final Map<String, Integer> accessOfFields = new HashMap<>();

  /**
   * A field that is less than it is declared to be.
   *
   * @param field the class's internal name, a dot, and its own
   * @param kind {@link Turns#PLAIN} or {@link Turns#ALONE}
   */
  record Weaker(String field, int kind) {}

  /**
   * A loader.
   *
   * @param packages of the classes: all that hold a lock while they call each other
   * @param changed by name, classes that are taken instead of those on the class path
   * @param weaker a field that is taken for less than it is
   */
  TurnsLoader(Set<String> packages, Map<String, byte[]> changed, Optional<Weaker> weaker) {
    super(TurnsLoader.class.getClassLoader());
    this.packages = Set.copyOf(packages);
    this.changed = Map.copyOf(changed);
    this.weaker = weaker;
  }

  /** Returns the package of a class, without the room in it. */
  private static String packageOf(String name) {
    Matcher inPackage = PACKAGE.matcher(name);
    return inPackage.lookingAt() ? inPackage.group() : "";
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    synchronized (getClassLoadingLock(name)) {
      if (!ORDERED.contains(packageOf(name))) {
        return super.loadClass(name, resolve);
      }
      Class<?> known = findLoadedClass(name);
      if (known != null) {
        return known;
      }
      byte[] bytes = rewritten(read(name), packages.contains(packageOf(name)), isProduct(name));
      Class<?> defined = defineClass(name, bytes, 0, bytes.length);
      // Others would wait for the end of its initialisation, whichever thread has the turn.
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

  /** Tests share what they like. */
  private boolean isProduct(String name) {
    URL found = getResource(name.replace('.', '/') + ".class");
    return changed.containsKey(name) || (found != null && found.toString().startsWith(PRODUCT));
  }

  /** The flags of a field; those of a final one where it is none of the ordered classes'. */
  private int accessOf(String owner, String field) {
    Integer known = accessOfFields.get(owner + '.' + field);
    if (known != null) {
      return known;
    }
    String name = owner.replace('/', '.');
    if (!ORDERED.contains(packageOf(name)) || !isProduct(name)) {
      return Opcodes.ACC_FINAL;
    }
    try {
      new ClassReader(read(name))
          .accept(
              new ClassVisitor(Opcodes.ASM9) {
                @Override
                public FieldVisitor visitField(
                    int access, String each, String descriptor, String signature, Object value) {
                  accessOfFields.put(owner + '.' + each, access);
                  return super.visitField(access, each, descriptor, signature, value);
                }
              },
              ClassReader.SKIP_CODE);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
    return accessOfFields.computeIfAbsent(owner + '.' + field, any -> Opcodes.ACC_FINAL);
  }

  private byte[] rewritten(byte[] original, boolean turns, boolean ordered) {
    ClassReader reader = new ClassReader(original);
    ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
    reader.accept(
        new ClassVisitor(Opcodes.ASM9, writer) {
          @Override
          public MethodVisitor visitMethod(
              int access, String name, String descriptor, String signature, String[] exceptions) {
            boolean isSynchronized = (access & Opcodes.ACC_SYNCHRONIZED) != 0;
            int kept = turns ? access & ~Opcodes.ACC_SYNCHRONIZED : access;
            MethodVisitor method = super.visitMethod(kept, name, descriptor, signature, exceptions);
            // A constructor's object is known to no other thread yet.
            return name.startsWith("<") || !(turns || ordered)
                ? method
                : new Rewriter(method, isSynchronized, turns, ordered);
          }
        },
        0);
    return writer.toByteArray();
  }

  private final class Rewriter extends MethodVisitor {
    private final boolean isSynchronized;
    private final boolean turns;
    private final boolean ordered;

    Rewriter(MethodVisitor next, boolean isSynchronized, boolean turns, boolean ordered) {
      super(Opcodes.ASM9, next);
      this.isSynchronized = isSynchronized;
      this.turns = turns;
      this.ordered = ordered;
    }

    private void call(String name, String descriptor) {
      super.visitMethodInsn(Opcodes.INVOKESTATIC, TURNS, name, descriptor, false);
    }

    private void callWithThis(String name) {
      super.visitVarInsn(Opcodes.ALOAD, 0);
      call(name, "(Ljava/lang/Object;)V");
    }

    private void callWithTop(String name) {
      super.visitInsn(Opcodes.DUP);
      call(name, "(Ljava/lang/Object;)V");
    }

    private void push(int number) {
      super.visitIntInsn(Opcodes.SIPUSH, number);
    }

    private int stays() {
      return turns ? 0 : Turns.STAYS;
    }

    @Override
    public void visitCode() {
      super.visitCode();
      if (isSynchronized && turns) {
        callWithThis("enter");
      }
      if (isSynchronized && ordered) {
        callWithThis("acquire");
      }
    }

    @Override
    public void visitInsn(int opcode) {
      boolean leaves =
          (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) || opcode == Opcodes.ATHROW;
      if (isSynchronized && leaves) {
        if (ordered) {
          callWithThis("release");
        }
        if (turns) {
          callWithThis("exit");
        }
      }
      if (opcode == Opcodes.MONITORENTER) {
        enter();
      } else if (opcode == Opcodes.MONITOREXIT) {
        exit();
      } else {
        super.visitInsn(opcode);
      }
    }

    private void enter() {
      super.visitInsn(Opcodes.DUP);
      if (turns) {
        call("enter", "(Ljava/lang/Object;)V");
      } else {
        super.visitInsn(Opcodes.MONITORENTER);
      }
      if (ordered) {
        call("acquire", "(Ljava/lang/Object;)V");
      } else {
        super.visitInsn(Opcodes.POP);
      }
    }

    private void exit() {
      if (ordered) {
        callWithTop("release");
      }
      if (turns) {
        call("exit", "(Ljava/lang/Object;)V");
      } else {
        super.visitInsn(Opcodes.MONITOREXIT);
      }
    }

    @Override
    public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
      int access = accessOf(owner, name);
      boolean weakened = weaker.map(Weaker::field).equals(Optional.of(owner + '.' + name));
      if (ordered && (access & Opcodes.ACC_FINAL) == 0) {
        int declared = (access & Opcodes.ACC_VOLATILE) != 0 ? Turns.ORDERED : Turns.PLAIN;
        access(opcode, owner, name, descriptor, weakened ? weaker.orElseThrow().kind() : declared);
      } else if (turns) {
        call("step", "()V");
      }
      super.visitFieldInsn(opcode, owner, name, descriptor);
      if (ordered && weakened && descriptor.startsWith("L" + ATOMICS)) {
        super.visitInsn(Opcodes.DUP);
        push(weaker.orElseThrow().kind());
        call("weaken", "(Ljava/lang/Object;I)V");
      }
    }

    private void access(int opcode, String owner, String name, String descriptor, int kind) {
      boolean reads = opcode == Opcodes.GETFIELD || opcode == Opcodes.GETSTATIC;
      if (opcode == Opcodes.GETSTATIC || opcode == Opcodes.PUTSTATIC) {
        super.visitLdcInsn(owner);
      } else if (reads) {
        super.visitInsn(Opcodes.DUP);
      } else if (Type.getType(descriptor).getSize() == 2) {
        super.visitInsn(Opcodes.DUP2_X1);
        super.visitInsn(Opcodes.POP2);
        super.visitInsn(Opcodes.DUP_X2);
      } else {
        super.visitInsn(Opcodes.DUP2);
        super.visitInsn(Opcodes.POP);
      }
      super.visitLdcInsn(name);
      push(kind + stays());
      call(reads ? "read" : "write", "(Ljava/lang/Object;Ljava/lang/String;I)V");
    }

    @Override
    public void visitMethodInsn(
        int opcode, String owner, String name, String descriptor, boolean isInterface) {
      if (owner.equals("java/lang/System") && name.equals("currentTimeMillis")) {
        call("millis", descriptor);
        return;
      }
      if (owner.equals("java/time/InstantSource") && name.equals("millis")) {
        call("millis", withReceiver(owner, descriptor));
        return;
      }
      if (turns && isReplaced(owner, name)) {
        call(name, withReceiver(owner, descriptor));
        return;
      }
      if (ordered && owner.startsWith(ATOMICS) && !owner.endsWith("Adder") && isOfObject(opcode)) {
        atomic(owner, name, descriptor);
      } else if (turns && (owner.startsWith(ATOMICS) || owner.equals(MAP))) {
        call("step", "()V");
      }
      super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
    }

    private static boolean isOfObject(int opcode) {
      return opcode == Opcodes.INVOKEVIRTUAL;
    }

    /** Puts the arguments aside to come at the atomic below them. */
    private void atomic(String owner, String name, String descriptor) {
      Type[] arguments = Type.getArgumentTypes(descriptor);
      int at = UNUSED_LOCALS;
      for (int i = arguments.length - 1; i >= 0; i--) {
        super.visitVarInsn(arguments[i].getOpcode(Opcodes.ISTORE), at);
        at += 2;
      }
      super.visitInsn(Opcodes.DUP);
      if (owner.endsWith("Array") && arguments.length > 0) {
        super.visitVarInsn(Opcodes.ILOAD, at - 2);
      } else {
        push(-1);
      }
      super.visitLdcInsn(name);
      push(stays());
      call("atomic", "(Ljava/lang/Object;ILjava/lang/String;I)V");
      for (Type argument : arguments) {
        at -= 2;
        super.visitVarInsn(argument.getOpcode(Opcodes.ILOAD), at);
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
      if (!turns) {
        super.visitInvokeDynamicInsn(name, descriptor, bootstrap, arguments);
        return;
      }
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
