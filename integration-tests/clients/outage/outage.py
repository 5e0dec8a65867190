#!/usr/bin/env python3
"""What nine clients, and the broker, make of a remote store that is away for a minute.

For each jar of Strata (--jar, once or several times) and each number of partitions: starts one stock broker with the remote
tier alone, writes records until only their newest segment is local, starts all clients from the first offset, takes the store
away (by --away) for --seconds, and puts it back. A client that gets an error asks again, if it can. Prints what each client did, and what it cost the broker
meanwhile, by the names of its threads, too. With --floor no store goes away: the same clients stand at the end of the log.

Needs Java, Python with venv, Node.js with npm, and Go, and downloads the clients by pip, npm and the Go proxy once. A client
that cannot be installed is left out, with a line that says so. Everything is below --work; nothing runs when it has ended.
"""

import argparse
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
BYTES = 4096
PAUSE_MICROS = 1000
NODE = ["kafkajs", "platformatic"]
GO = ["franz-go", "sarama", "segmentio"]
PYTHON = ["librdkafka", "kafka-python", "aiokafka"]
CLIENTS = ["java", *PYTHON, *GO, *NODE]
TICKS = os.sysconf("SC_CLK_TCK")


def install(kind, target, commands):
    """Runs the commands in a directory once; returns whether that has succeeded."""
    if (target / "done").exists():
        return True
    target.mkdir(parents=True, exist_ok=True)
    for command in commands:
        done = subprocess.run(command, cwd=target, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"left out: {kind}: {command[0]} failed: {done.stderr.strip()[-300:]}")
            return False
    (target / "done").touch()
    return True


def java_client(libs):
    return ["java", "-Xmx512m", "-cp", f"{libs.resolve()}/*", str(HERE / "Outage.java")]


def commands(work, libs, wanted):
    """How each client is run."""
    found = {"java": [*java_client(libs), "consume"]}
    python, node, go = work / "python", work / "node", work / "go"
    if any(name in wanted for name in PYTHON) and install("Python", python, [
            [sys.executable, "-m", "venv", "venv"],
            ["venv/bin/pip", "install", "-q", "--disable-pip-version-check", "-r", HERE / "requirements.txt"]]):
        found |= {name: [str(python / "venv/bin/python"), str(HERE / "client.py"), name] for name in PYTHON}
    if any(name in wanted for name in NODE) and install("Node.js", node, [
            ["cp", HERE / "package.json", HERE / "client.mjs", "."],
            ["npm", "install", "--silent", "--no-package-lock", "--no-fund", "--no-audit"]]):
        shutil.copy(HERE / "client.mjs", node)
        found |= {name: ["node", str(node / "client.mjs"), name] for name in NODE}
    if any(name in wanted for name in GO) and install("Go", go, [
            ["go", "build", "-C", HERE, "-o", go / "client", "."]]):
        found |= {name: [str(go / "client"), name] for name in GO}
    return {name: found[name] for name in CLIENTS if name in wanted and name in found}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Broker:
    def __init__(self, folder, libs, jar, how, extra):
        self.folder, self.store, self.away, self.log = folder, folder / "store", folder / "away", folder / "broker.log"
        port, controller = free_port(), free_port()
        self.bootstrap = f"127.0.0.1:{port}"
        folder.mkdir(parents=True)
        self.store.mkdir()
        if how == "umount":
            self.away.mkdir()
            self.give_back(how)
        (folder / "log4j2.properties").write_text(
            "rootLogger.level=INFO\nrootLogger.appenderRef.out.ref=OUT\nappender.out.type=Console\nappender.out.name=OUT\n"
            "appender.out.layout.type=PatternLayout\nappender.out.layout.pattern=[%d] %p %m (%c)%n\n")
        (folder / "server.properties").write_text("\n".join([
            "process.roles=broker,controller", "node.id=1", f"controller.quorum.voters=1@127.0.0.1:{controller}",
            f"listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
            "controller.listener.names=CONTROLLER", f"log.dirs={folder}/log", "offsets.topic.replication.factor=1",
            "offsets.topic.num.partitions=5", "group.initial.rebalance.delay.ms=0", "log.retention.check.interval.ms=1000",
            "log.initial.task.delay.ms=500", "remote.log.storage.system.enable=true", "remote.log.manager.task.interval.ms=1000",
            "remote.log.storage.manager.class.name=io.strata.kafka.migration.remote.StrataRemoteStorageManager",
            "remote.log.metadata.manager.listener.name=PLAINTEXT", "rlmm.config.remote.log.metadata.topic.replication.factor=1",
            "rlmm.config.remote.log.metadata.topic.num.partitions=3", "rsm.config.levels=nas",
            f"rsm.config.nas.directories={self.store}", *extra, ""]))
        self.java = ["java", "-Xmx3g", f"-Dlog4j2.configurationFile={folder}/log4j2.properties", "-cp", f"{jar}:{libs}/*"]
        with self.log.open("w") as log:
            subprocess.run([*self.java, "kafka.tools.StorageTool", "format", "-t", "AAAAAAAAAAAAAAAAAAAAAQ", "-c",
                            folder / "server.properties"], check=True, stdout=log, stderr=log)
            self.process = subprocess.Popen([*self.java, "kafka.Kafka", folder / "server.properties"], stdout=log, stderr=log)
        for _ in range(120):
            if "Kafka Server started" in self.log.read_text():
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.5)
        sys.exit(f"the broker did not start: see {self.log}")

    def local_segments(self, topic):
        return sum(1 for _ in (self.folder / "log").glob(f"{topic}-*/*.log"))

    def take(self, how):
        if how == "rename":
            self.store.rename(self.away)
        elif how == "umount":
            subprocess.run(["umount", "-l", self.store], check=True)

    def give_back(self, how):
        if how == "rename":
            self.away.rename(self.store)
        elif how == "umount":
            subprocess.run(["mount", "--bind", self.away, self.store], check=True)

    def seconds(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def threads(self):
        """The processor time of the threads of each name, of those that run now."""
        used = Counter()
        for stat in Path(f"/proc/{self.process.pid}/task").glob("*/stat"):
            try:
                name, fields = stat.read_text().split("(", 1)[1].rsplit(")", 1)
            except OSError:
                continue  # It has ended.
            used[re.sub(r"[-# ]*[0-9]+$", "", name)] += (int(fields.split()[11]) + int(fields.split()[12])) / TICKS
        return used

    def log_bytes(self):
        return self.log.stat().st_size

    def stop(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Client:
    def __init__(self, name, command, folder, arguments):
        self.name, self.out, self.err = name, folder / f"{name}.out", folder / f"{name}.err"
        with self.out.open("w") as out, self.err.open("w") as err:
            self.process = subprocess.Popen([*command, *arguments], stdout=out, stderr=err)

    def lines(self):
        return self.out.read_bytes().count(b"\n")

    def begun(self):
        return self.out.stat().st_size > 0

    def verdict(self, partitions, records, back):
        """The row of the table: whether it went on, what it has read, and when it went on."""
        seen, twice, after = set(), 0, None
        with self.out.open() as lines:
            for line in lines:
                try:
                    moment, partition, offset = map(int, line.split())
                except ValueError:
                    continue  # It was ended in the midst of a line.
                twice += (partition, offset) in seen
                seen.add((partition, offset))
                if after is None and moment >= back * 1000:
                    after = moment / 1000 - back
        missing = partitions * records - len(seen)
        whole = self.process.returncode == 0 and missing == 0
        with self.err.open(errors="replace") as lines:
            errors = sum(1 for _ in lines)
        cut_off = self.process.returncode == -signal.SIGKILL and after is not None
        return [self.name, "goes on" if whole else "goes on, not at the end in time" if cut_off else "ends for good", f"{len(seen):,}", str(missing), str(twice),
                "-" if after is None else f"{after:.1f} s", str(errors)]


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def run(options, jar, partitions, clients):
    records = options.records // partitions
    pending = options.pending or max(100, 2 * partitions * len(clients))
    folder = options.work / f"{jar.stem}-{partitions}"
    shutil.rmtree(folder, ignore_errors=True)
    broker = Broker(folder, options.kafka, jar, options.away, [f"remote.log.reader.max.pending.tasks={pending}", *options.set])
    running = []
    try:
        producer = [*java_client(options.kafka), "produce", broker.bootstrap, "t", str(partitions), str(records), str(BYTES)]
        subprocess.run(producer, check=True, stdout=subprocess.DEVNULL)
        limit = time.time() + 300
        while broker.local_segments("t") > partitions:
            if time.time() > limit:
                sys.exit(f"segments stay local: see {broker.log}")
            time.sleep(1)
        expected = records + options.floor  # One that never comes keeps a client at the end of the log.
        arguments = [broker.bootstrap, "t", str(partitions), str(expected), str(PAUSE_MICROS)]
        running = [Client(name, command, folder, arguments) for name, command in clients.items()]
        while not all(client.begun() or client.process.poll() is not None for client in running):
            time.sleep(0.2)
        how = "no" if options.floor else options.away
        limit = time.time() + options.limit
        while options.floor and time.time() < limit and not all(client.lines() >= partitions * records for client in running):
            time.sleep(1)
        time.sleep(options.lead)
        if options.warm:
            broker.take(how)
            time.sleep(options.warm)
            broker.give_back(how)
            time.sleep(options.lead)
        grown, used, threads = broker.log_bytes(), broker.seconds(), broker.threads()
        broker.take(how)
        if options.profile:
            subprocess.run(["jcmd", str(broker.process.pid), "JFR.start", "name=outage", "settings=profile"], check=True)
        time.sleep(options.seconds)
        grown, used, threads = broker.log_bytes() - grown, broker.seconds() - used, broker.threads() - threads
        if options.profile:
            subprocess.run(["jcmd", str(broker.process.pid), "JFR.stop", "name=outage", f"filename={folder}.jfr"], check=True)
        broker.give_back(how)
        back = time.time()
        print(f"{jar.name}, {partitions} partitions, max.pending.tasks {pending}, {'store there, clients at the end' if options.floor else 'store away'}"
              f" for {options.seconds} s ({how}): the broker's log grew by {grown / options.seconds / 1000:,.1f} kB/s, it used {used:.1f} s of"
              f" processor time:", ", ".join(f"{name} {spent:.1f}" for name, spent in threads.most_common(12)), "\n", flush=True)
        if options.floor:
            return
        limit = back + options.limit
        while time.time() < limit and any(client.process.poll() is None for client in running):
            time.sleep(0.5)
        for client in running:
            if client.process.poll() is None:
                client.process.kill()
                client.process.wait()
        table(["client", "", "records", "missing", "twice", "first record after", "lines of errors"],
              [client.verdict(partitions, records, back) for client in running])
    finally:
        for client in running:
            if client.process.poll() is None:
                client.process.kill()
                client.process.wait()
        broker.stop()
        if options.away == "umount":
            subprocess.run(["umount", "-l", broker.store], stderr=subprocess.DEVNULL)
        if not options.keep:
            shutil.rmtree(folder / "log", ignore_errors=True)
            shutil.rmtree(broker.store, ignore_errors=True)
            shutil.rmtree(broker.away, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jar", type=Path, action="append", required=True, help="a jar of Strata")
    parser.add_argument("--kafka", type=Path, required=True, help="Kafka's libs")
    parser.add_argument("--work", type=Path, default=Path("/tmp/strata-outage"))
    parser.add_argument("--partitions", type=int, nargs="+", default=[1, 150])
    parser.add_argument("--clients", nargs="+", choices=CLIENTS, default=CLIENTS)
    parser.add_argument("--seconds", type=int, default=60, help="how long the store is away")
    parser.add_argument("--away", choices=["rename", "umount"], default="rename", help="how: renamed, or a bind mount that is"
                        " unmounted lazily, which takes root")
    parser.add_argument("--floor", action="store_true", help="measure what the clients cost by themselves")
    parser.add_argument("--profile", action="store_true", help="write a flight recording beside the broker's folder")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a key of the broker's")
    parser.add_argument("--warm", type=int, default=0, help="take the store away once before, for so many seconds: in a JVM's first"
                        " minute the compiler takes most of the processor time")
    parser.add_argument("--lead", type=int, default=8, help="how long the clients read before, in seconds")
    parser.add_argument("--limit", type=int, default=240, help="how long they have after, in seconds")
    parser.add_argument("--records", type=int, default=76_800)
    parser.add_argument("--pending", type=int, default=0, help="remote.log.reader.max.pending.tasks; twice the partitions of"
                        " all clients unless it is given")
    parser.add_argument("--keep", action="store_true", help="keep log and store")
    options = parser.parse_args()
    options.work = options.work.resolve()
    clients = commands(options.work, options.kafka.resolve(), options.clients)
    for partitions in options.partitions:
        for jar in options.jar:
            run(options, jar.resolve(), partitions, clients)


main()
