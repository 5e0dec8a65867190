package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"time"
)

const (
	replicas = 3
	provider = "-Djava.nio.file.spi.DefaultFileSystemProvider=io.strata.kafka.nio.StrataFileSystemProvider"
	patience = 5 * time.Minute // the machine may do other work
)

// Cluster is three brokers with Strata, and a controller of its own process that no fault touches: a node that is both
// can abort, when it starts again, a transaction whose commit it has acknowledged (docs/reliability.md).
type Cluster struct {
	folder     string
	classPath  string
	options    []string // of the brokers' JVMs
	logging    string
	controller *Node
	brokers    []*Node
}

// Node is a process of the cluster.
type Node struct {
	id       int32
	folder   string
	logs     string
	options  []string
	starts   int
	process  *exec.Cmd
	gone     chan struct{}
	client   *Link // in front of the listener for clients
	internal *Link // in front of the listener for other brokers
	control  *Link // in front of the controller, for this broker
}

// Pools says what pools the brokers have.
type Pools int

const (
	mixed        Pools = iota // two of the type mapped and one of the type file
	acknowledged              // of the type file; what is acknowledged is forced
	dax                       // of the type mapped, in memory that has only what was flushed (ShadowMemory)
)

// newCluster starts one.
//
// folder has the nodes' logs, data the rest, memory the pools on DAX, shadow the classes that keep from them what was not
// flushed.
func newCluster(folder, data, memory string, o options, pools Pools) (*Cluster, error) {
	libs, jar, stock := o.libs, o.jar, o.stock
	c := &Cluster{folder: folder, classPath: filepath.Join(libs, "*"), logging: o.logging}
	if !stock {
		// Of its own: a build meanwhile takes the classes from brokers that start again.
		bytes, err := os.ReadFile(jar)
		if err != nil {
			return nil, err
		}
		mine := filepath.Join(folder, "strata.jar")
		if err := errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(mine, bytes, 0o644)); err != nil {
			return nil, err
		}
		c.classPath = mine + ":" + c.classPath
	}
	if pools == dax {
		c.classPath = o.shadow + ":" + c.classPath
		c.options = []string{"-Dstrata.test.shadow.dax=true", "-Dstrata.test.shadow.writeback=0.2", fmt.Sprintf("-Dstrata.test.shadow.seed=%d", o.seed)}
	}
	ports, err := freePorts(2 + 5*replicas)
	if err != nil {
		return nil, err
	}
	controllerPort := ports[0]
	c.controller = &Node{id: 100, folder: filepath.Join(data, "controller"), logs: filepath.Join(folder, "controller"),
		options: []string{"-Xms64m", "-Xmx256m"}}
	common := []string{
		"controller.listener.names=CONTROLLER", "offsets.topic.replication.factor=3", "offsets.topic.num.partitions=2",
		"transaction.state.log.replication.factor=3", "transaction.state.log.min.isr=2", "transaction.state.log.num.partitions=2",
		"share.coordinator.state.topic.replication.factor=3", "share.coordinator.state.topic.min.isr=2",
		"listener.security.protocol.map=CLIENT:PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT",
		"group.initial.rebalance.delay.ms=0", "broker.session.timeout.ms=4000", "broker.heartbeat.interval.ms=1000",
		"replica.lag.time.max.ms=5000", "replica.socket.timeout.ms=5000", "replica.fetch.wait.max.ms=200",
		"controller.quorum.request.timeout.ms=5000", "auto.create.topics.enable=false", "auto.leader.rebalance.enable=false",
		"log.segment.bytes=1048576", "log.index.size.max.bytes=262144", "log.segment.delete.delay.ms=100",
		"log.initial.task.delay.ms=300", "num.network.threads=2", "num.io.threads=4", "log.cleaner.dedupe.buffer.size=8388608",
		"transaction.abort.timed.out.transaction.cleanup.interval.ms=1000", "metadata.max.idle.interval.ms=0",
	}
	if err := c.write(c.controller, append(common, "process.roles=controller", "node.id=100",
		fmt.Sprintf("controller.quorum.voters=100@127.0.0.1:%d", controllerPort),
		fmt.Sprintf("listeners=CONTROLLER://127.0.0.1:%d", controllerPort),
		"log.dirs="+filepath.Join(c.controller.folder, "data"))...); err != nil {
		return nil, err
	}
	types := []string{"mapped", "mapped", "file"}
	thresholds := []string{"0", "0.5", "0.9"}
	sizes := []string{"16MiB", "12MiB", "8MiB"} // the logs of one history have more
	for i := range replicas {
		p := ports[1+5*i:]
		name := fmt.Sprintf("broker-%d", i+1)
		n := &Node{id: int32(i + 1), folder: filepath.Join(data, name), logs: filepath.Join(folder, name), options: []string{"-Xms128m", "-Xmx448m"}}
		if n.client, err = newLink(fmt.Sprintf("clients>%d", n.id), fmt.Sprintf("127.0.0.1:%d", p[0]), p[1]); err != nil {
			return nil, err
		}
		if n.internal, err = newLink(fmt.Sprintf("brokers>%d", n.id), fmt.Sprintf("127.0.0.1:%d", p[2]), p[3]); err != nil {
			return nil, err
		}
		if n.control, err = newLink(fmt.Sprintf("%d>controller", n.id), fmt.Sprintf("127.0.0.1:%d", controllerPort), p[4]); err != nil {
			return nil, err
		}
		lines := append(append([]string{}, common...), "process.roles=broker", fmt.Sprintf("node.id=%d", n.id),
			fmt.Sprintf("controller.quorum.voters=100@127.0.0.1:%d", p[4]),
			fmt.Sprintf("listeners=CLIENT://127.0.0.1:%d,INTERNAL://127.0.0.1:%d", p[0], p[2]),
			fmt.Sprintf("advertised.listeners=CLIENT://127.0.0.1:%d,INTERNAL://127.0.0.1:%d", p[1], p[3]),
			"inter.broker.listener.name=INTERNAL",
			"log.dirs="+filepath.Join(n.folder, "data-0")+","+filepath.Join(n.folder, "data-1"))
		if !stock {
			lines = append(lines, "metric.reporters=org.apache.kafka.common.metrics.JmxReporter,io.strata.kafka.StrataReporter",
				"strata.pool.create="+sizes[i], "strata.migration.threshold="+thresholds[i])
			pool := filepath.Join(n.folder, "hot.pool")
			switch pools {
			case acknowledged:
				lines = append(lines, "strata.pools="+pool, "strata.pool.type=file", "strata.durability=ack")
			case dax:
				lines = append(lines, "strata.pools="+filepath.Join(memory, name+".pool"), "strata.pool.type=mapped")
			default:
				lines = append(lines, "strata.pools="+pool, "strata.pool.type="+types[i])
			}
		}
		if err := c.write(n, lines...); err != nil {
			return nil, err
		}
		c.brokers = append(c.brokers, n)
	}
	for _, n := range append([]*Node{c.controller}, c.brokers...) {
		args := append(c.java(n, stock || n == c.controller), "kafka.tools.StorageTool", "format",
			"--config", filepath.Join(n.folder, "server.properties"), "--cluster-id", "aGlzdG9yaWVzLW9mLXN0cg")
		said, err := exec.Command("java", args...).CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("format of node %d: %w: %s", n.id, err, said)
		}
	}
	if err := c.start(stock, append([]*Node{c.controller}, c.brokers...)...); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Cluster) write(n *Node, lines ...string) error {
	if err := errors.Join(os.MkdirAll(n.folder, 0o755), os.MkdirAll(n.logs, 0o755)); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(n.folder, "server.properties"), []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}

func (c *Cluster) java(n *Node, stock bool) []string {
	args := append([]string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-XX:MaxDirectMemorySize=256m",
		"-Dlog4j2.configurationFile=" + c.logging, "-Dstrata.it.log=" + n.log()}, n.options...)
	if !stock {
		args = append(append(args, provider), c.options...)
	}
	return append(args, "-cp", c.classPath)
}

func (n *Node) log() string { return filepath.Join(n.logs, fmt.Sprintf("server-%d.log", n.starts)) }

// start starts nodes together and waits until all have started.
func (c *Cluster) start(stock bool, nodes ...*Node) error {
	for _, n := range nodes {
		n.starts++
		console, err := os.Create(filepath.Join(n.logs, fmt.Sprintf("console-%d.log", n.starts)))
		if err != nil {
			return err
		}
		n.process = exec.Command("java", append(c.java(n, stock || n == c.controller), "kafka.Kafka", filepath.Join(n.folder, "server.properties"))...)
		n.process.Stdout, n.process.Stderr = console, console
		n.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := n.process.Start(); err != nil {
			return err
		}
		console.Close()
		known.Lock()
		known.pids[n.process.Process.Pid] = true
		known.Unlock()
		n.gone = make(chan struct{})
		go func(process *exec.Cmd, gone chan struct{}) {
			_ = process.Wait()
			known.Lock()
			delete(known.pids, process.Process.Pid)
			known.Unlock()
			close(gone)
		}(n.process, n.gone)
	}
	for _, n := range nodes {
		for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
			text, _ := os.ReadFile(n.log())
			if bytes.Contains(text, []byte("Kafka Server started")) {
				break
			}
			if !n.alive() || time.Now().After(end) {
				return fmt.Errorf("node %d did not start; see %s", n.id, n.logs)
			}
		}
	}
	return nil
}

func (n *Node) alive() bool {
	select {
	case <-n.gone:
		return false
	default:
		return true
	}
}

func (n *Node) signal(s syscall.Signal) { _ = n.process.Process.Signal(s) }

func (n *Node) kill() {
	n.signal(syscall.SIGKILL)
	<-n.gone
}

func (n *Node) pid() int { return n.process.Process.Pid }

func (c *Cluster) bootstrap() []string {
	var all []string
	for _, n := range c.brokers {
		all = append(all, n.client.listen.Addr().String())
	}
	return all
}

func (c *Cluster) stop() {
	for _, n := range append(append([]*Node{}, c.brokers...), c.controller) {
		if n.process != nil {
			n.kill()
		}
	}
}

// spilled counts in the brokers' logs the lines that say that segments went on or began in their log files.
func (c *Cluster) spilled() int {
	count := 0
	for _, n := range c.brokers {
		logs, _ := filepath.Glob(filepath.Join(n.logs, "server-*.log"))
		sort.Strings(logs)
		for _, log := range logs {
			text, _ := os.ReadFile(log)
			count += bytes.Count(text, []byte("goes on in its log file")) + bytes.Count(text, []byte("begin in their log files"))
		}
	}
	return count
}

// shadows counts the brokers that have said that only what is flushed reaches their pool.
func (c *Cluster) shadows() int {
	count := 0
	for _, n := range c.brokers {
		text, _ := os.ReadFile(filepath.Join(n.logs, fmt.Sprintf("console-%d.log", n.starts)))
		if bytes.Contains(text, []byte("SHADOW over ")) {
			count++
		}
	}
	return count
}

func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
