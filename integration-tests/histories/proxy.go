package main

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Link is a TCP proxy in front of one listener of a broker or of the controller, which can be slow or cut for all who
// connect, or for one process.
type Link struct {
	name   string
	listen net.Listener
	target string

	mu    sync.Mutex
	cut   map[int]bool  // by the process that has connected; 0 is all of them
	delay time.Duration // of each piece, in each direction
	pairs map[*pair]bool
}

type pair struct {
	from, to net.Conn
	process  int
}

func newLink(name, target string, port int) (*Link, error) {
	l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		return nil, err
	}
	link := &Link{name: name, listen: l, target: target, cut: map[int]bool{}, pairs: map[*pair]bool{}}
	go link.serve()
	return link, nil
}

// Slow makes each piece of bytes take so much longer.
func (l *Link) Slow(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.delay = d
}

// Cut lets no byte through any more for a process, 0 for all. With reset, connections break; without, they go silent.
func (l *Link) Cut(process int, reset bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut[process] = true
	if reset {
		for p := range l.pairs {
			if process == 0 || p.process == process {
				p.from.Close()
				p.to.Close()
			}
		}
	}
}

// Heal undoes Cut and Slow.
func (l *Link) Heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = map[int]bool{}
	l.delay = 0
}

func (l *Link) state(process int) (bool, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut[0] || l.cut[process], l.delay
}

func (l *Link) serve() {
	for {
		from, err := l.listen.Accept()
		if err != nil {
			return
		}
		go func() {
			process := processOf(from.RemoteAddr().(*net.TCPAddr).Port)
			for cut, _ := l.state(process); cut; cut, _ = l.state(process) {
				time.Sleep(20 * time.Millisecond)
			}
			to, err := net.Dial("tcp", l.target)
			if err != nil {
				from.Close()
				return
			}
			p := &pair{from, to, process}
			l.mu.Lock()
			l.pairs[p] = true
			l.mu.Unlock()
			var both sync.WaitGroup
			both.Add(2)
			go l.pump(p, from, to, &both)
			go l.pump(p, to, from, &both)
			both.Wait()
			l.mu.Lock()
			delete(l.pairs, p)
			l.mu.Unlock()
		}()
	}
}

func (l *Link) pump(p *pair, from, to net.Conn, done *sync.WaitGroup) {
	defer done.Done()
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		cut, delay := l.state(p.process)
		if delay > 0 {
			time.Sleep(delay)
		}
		for ; cut; cut, _ = l.state(p.process) {
			time.Sleep(20 * time.Millisecond)
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			_ = err == io.EOF
			return
		}
	}
}

// processOf finds the process that has a connection from a local port; 0 where it cannot be told.
func processOf(port int) int {
	hex := strings.ToUpper(strconv.FormatInt(int64(port)+0x10000, 16))[1:]
	inode := ""
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, _ := os.ReadFile(table)
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) > 9 && strings.HasSuffix(f[1], ":"+hex) {
				inode = "socket:[" + f[9] + "]"
			}
		}
	}
	if inode == "" {
		return 0
	}
	known.Lock()
	defer known.Unlock()
	for pid := range known.pids {
		links, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/fd/*")
		for _, link := range links {
			if to, _ := os.Readlink(link); to == inode {
				return pid
			}
		}
	}
	return 0
}

// known has the brokers' processes.
var known = struct {
	sync.Mutex
	pids map[int]bool
}{pids: map[int]bool{}}
