package main

import (
	"context"
	"fmt"
	"math/rand"
	"path/filepath"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

// fault is one that has begun, and what ends it.
type fault struct {
	lasts time.Duration
	end   func() error
}

// nemesis makes faults by a seed. A fault may begin while the one before it lasts; the last thing it does is to end all.
type nemesis struct {
	c      *Cluster
	r      *Recorder
	admin  *kadm.Client
	topics Topics
	random *rand.Rand
	stock  bool
}

var faultKinds = []string{"kill", "kill", "kill", "kill-two", "kill-all", "pause", "pause", "cut-replication", "cut-one", "cut-controller",
	"cut-clients", "isolate", "isolate", "slow", "slow-all", "reassign", "reassign", "shrink", "elect", "move"}

// run makes so many faults, and returns when the cluster is whole again.
func (n *nemesis) run(count int) error {
	var open []fault
	for range count {
		time.Sleep(n.between(200, 1200))
		f, err := n.begin(faultKinds[n.random.Intn(len(faultKinds))])
		if err != nil {
			return err
		}
		open = append(open, f)
		// What comes next needs brokers that answer.
		if n.random.Intn(3) == 0 && n.alive() == replicas {
			continue
		}
		time.Sleep(f.lasts)
		if err := end(open); err != nil {
			return err
		}
		open = nil
	}
	if len(open) > 0 {
		time.Sleep(open[len(open)-1].lasts)
	}
	return end(open)
}

func (n *nemesis) alive() int {
	count := 0
	for _, b := range n.c.brokers {
		if b.alive() {
			count++
		}
	}
	return count
}

func end(open []fault) error {
	var first error
	for _, f := range open {
		if err := f.end(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func (n *nemesis) between(low, high int) time.Duration {
	return time.Duration(low+n.random.Intn(high-low)) * time.Millisecond
}

func (n *nemesis) begin(kind string) (fault, error) {
	brokers := append([]*Node{}, n.c.brokers...)
	n.random.Shuffle(len(brokers), func(i, j int) { brokers[i], brokers[j] = brokers[j], brokers[i] })
	one := brokers[0]
	reset := n.random.Intn(2) == 0
	lasts := n.between(1500, 7000)
	how := "silent"
	if reset {
		how = "reset"
	}
	heal := func(links ...*Link) func() error {
		return func() error {
			for _, l := range links {
				l.Heal()
			}
			return nil
		}
	}
	switch kind {
	case "kill", "kill-two", "kill-all":
		count := map[string]int{"kill": 1, "kill-two": 2, "kill-all": 3}[kind]
		names := ""
		var killed []*Node
		for _, b := range brokers[:count] {
			if b.alive() {
				b.kill()
				killed = append(killed, b)
				names += fmt.Sprint(" ", b.id)
			}
		}
		n.r.fault("%s%s", kind, names)
		return fault{n.between(0, 2000), func() error { return n.c.start(n.stock, killed...) }}, nil
	case "pause":
		n.r.fault("pause %d for %s", one.id, lasts)
		one.signal(syscall.SIGSTOP)
		return fault{lasts, func() error { one.signal(syscall.SIGCONT); return nil }}, nil
	case "cut-replication":
		n.r.fault("cut brokers>%d (%s) for %s", one.id, how, lasts)
		one.internal.Cut(0, reset)
		return fault{lasts, heal(one.internal)}, nil
	case "cut-one":
		n.r.fault("cut %d>%d (%s) for %s", brokers[1].id, one.id, how, lasts)
		one.internal.Cut(brokers[1].pid(), reset)
		return fault{lasts, heal(one.internal)}, nil
	case "cut-controller":
		n.r.fault("cut %d>controller (%s) for %s", one.id, how, lasts)
		one.control.Cut(0, reset)
		return fault{lasts, heal(one.control)}, nil
	case "cut-clients":
		n.r.fault("cut clients>%d (%s) for %s", one.id, how, lasts)
		one.client.Cut(0, reset)
		return fault{lasts, heal(one.client)}, nil
	case "isolate":
		n.r.fault("isolate %d (%s) for %s", one.id, how, lasts)
		for _, l := range []*Link{one.internal, one.control, one.client} {
			l.Cut(0, reset)
		}
		for _, other := range brokers[1:] {
			other.internal.Cut(one.pid(), reset)
		}
		return fault{lasts, heal(one.internal, one.control, one.client, brokers[1].internal, brokers[2].internal)}, nil
	case "slow":
		delay := n.between(20, 150)
		n.r.fault("slow brokers>%d by %s for %s", one.id, delay, lasts)
		one.internal.Slow(delay)
		return fault{lasts, heal(one.internal)}, nil
	case "slow-all":
		delay := n.between(5, 60)
		n.r.fault("slow all links of %d by %s for %s", one.id, delay, lasts)
		for _, l := range []*Link{one.internal, one.control, one.client} {
			l.Slow(delay)
		}
		return fault{lasts, heal(one.internal, one.control, one.client)}, nil
	case "reassign":
		n.r.fault("reassign")
		return fault{n.between(200, 1500), func() error { return nil }}, n.assign(replicas)
	case "shrink":
		n.r.fault("shrink to two replicas")
		return fault{n.between(1000, 3000), func() error { return n.assign(replicas) }}, n.assign(replicas - 1)
	case "elect":
		n.r.fault("elect preferred leaders")
		if err := n.assign(replicas); err != nil {
			return fault{}, err
		}
		return fault{n.between(200, 1000), func() error {
			n.elect()
			return nil
		}}, nil
	case "move":
		n.r.fault("move between the log directories of %d", one.id)
		n.move(one)
		return fault{n.between(200, 1500), func() error { return nil }}, nil
	}
	return fault{}, fmt.Errorf("no fault %s", kind)
}

// assign gives each partition so many replicas, in an order by chance. It is tried for a while: what is between
// may be cut.
func (n *nemesis) assign(count int) error {
	var req kadm.AlterPartitionAssignmentsReq
	for _, log := range n.topics.logs() {
		all := []int32{1, 2, 3}
		n.random.Shuffle(3, func(i, j int) { all[i], all[j] = all[j], all[i] })
		req.Assign(log.Topic, log.Partition, all[:count])
	}
	var err error
	for limit := time.Now().Add(20 * time.Second); time.Now().Before(limit); time.Sleep(300 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		var answers kadm.AlterPartitionAssignmentsResponses
		answers, err = n.admin.AlterPartitionAssignments(ctx, req)
		cancel()
		if err == nil {
			err = answers.Error()
		}
		if err == nil {
			return nil
		}
	}
	n.r.fault("(not assigned: %v)", err)
	return nil
}

func (n *nemesis) elect() {
	set := kadm.TopicsSet{}
	for _, log := range n.topics.logs() {
		set.Add(log.Topic, log.Partition)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if _, err := n.admin.ElectLeaders(ctx, kadm.ElectPreferredReplica, set); err != nil {
		n.r.fault("(not elected: %v)", err)
	}
}

func (n *nemesis) move(broker *Node) {
	var req kadm.AlterReplicaLogDirsReq
	for _, log := range n.topics.logs() {
		set := kadm.TopicsSet{}
		set.Add(log.Topic, log.Partition)
		req.Add(filepath.Join(broker.folder, fmt.Sprintf("data-%d", n.random.Intn(2))), set)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if _, err := n.admin.AlterBrokerReplicaLogDirs(ctx, broker.id, req); err != nil {
		n.r.fault("(not moved: %v)", err)
	}
}
