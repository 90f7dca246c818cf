package mysql_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"insertbench/drivers"
	"insertbench/drivers/mysql"
	"insertbench/internal/server"
	"insertbench/internal/server/servertest"
	"insertbench/linkbench"
	"insertbench/linkbench/config"
	"insertbench/linkbench/graph"
	"insertbench/linkbench/stream"
)

const killedIDs = 5

// A server that is killed under requests and started again on the same data:
// every count is that of its visible links, and the links are those of which
// clients were told, and at most those in flight beside them.
func TestGraphKilledAndRestarted(t *testing.T) {
	program := servertest.MariaDBProgram(t)
	for _, engine := range []string{"innodb", "rocksdb"} {
		t.Run(engine, func(t *testing.T) {
			cfg := killable(t, program, engine)
			acked := requestUntilKilled(t, cfg, engine)
			s, err := server.Start(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := s.Stop(context.Background()); err != nil {
					t.Error(err)
				}
			}()
			g := openGraph(t, mysql.Config{Socket: s.Socket, User: "root", Database: "linkdb0", Engine: engine})
			defer g.Close()
			if v, err := linkbench.Verify(t.Context(), killedWorkload(t), g, linkbench.CheckConsistent); err != nil {
				t.Errorf("%v; %v", err, v.Differences)
			}
			var links, visible int64
			err = g.SumLinks(t.Context(), graph.FirstLinkType, 0, killedIDs+1, func(s linkbench.LinkSums) error {
				links += s.Links
				visible += s.Visible
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if added := acked.added.Load(); links < added || links > added+killClients {
				t.Errorf("%d links, where %d were acknowledged by %d clients", links, added, killClients)
			}
			want := acked.added.Load() - acked.hidden.Load()
			if visible < want-killClients || visible > want+killClients {
				t.Errorf("%d visible links, where %d were acknowledged by %d clients", visible, want, killClients)
			}
		})
	}
}

type acknowledged struct{ added, hidden, going atomic.Int64 }

// requestUntilKilled changes links from several clients and kills the server
// once each of them has been answered.
func requestUntilKilled(t *testing.T, cfg server.Config, engine string) *acknowledged {
	t.Helper()
	s, err := server.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Stop(context.Background()) }() // it is killed by then
	g := openGraph(t, mysql.Config{Socket: s.Socket, User: "root", Database: "linkdb0", Engine: engine, CreateDatabase: true})
	defer g.Close()
	layout := linkbench.Layout{Index: linkbench.IndexCovering, FirstNewNode: killedIDs + 1}
	if err := errors.Join(g.CreateTables(t.Context(), layout), g.CreateIndex(t.Context(), layout)); err != nil {
		t.Fatal(err)
	}
	out := &acknowledged{}
	errs := make([]error, killClients)
	var wg sync.WaitGroup
	for i := range errs {
		c, err := g.OpenClient(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() { errs[i] = requestUntilError(c, int64(i), out) })
	}
	for range 1000 {
		if out.going.Load() == killClients {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.Kill()
	wg.Wait()
	for _, err := range errs {
		if drivers.ClassOf(err) != drivers.Unknown {
			t.Errorf("a client ended with %v of class %v, want an unknown outcome", err, drivers.ClassOf(err))
		}
	}
	return out
}

// requestUntilError adds links of the client's own to the ids of all, updates
// every third and deletes every fifth.
func requestUntilError(c linkbench.Client, client int64, out *acknowledged) error {
	ctx := context.Background()
	for n := int64(0); ; n++ {
		l := graph.Link{ID1: 1 + n%killedIDs, Type: graph.FirstLinkType, ID2: client<<32 + n, Visibility: graph.Visible, TimeMS: n, Data: []byte("killed")}
		if err := until(func() error { _, err := c.AddLink(ctx, &l); return err }); err != nil {
			return errors.Join(err, c.Close())
		}
		out.added.Add(1)
		if n%3 == 0 {
			l.TimeMS++
			if err := until(func() error { _, err := c.UpdateLink(ctx, &l); return err }); err != nil {
				return errors.Join(err, c.Close())
			}
		}
		if n%5 == 0 {
			if err := until(func() error { _, err := c.DeleteLink(ctx, l.ID1, l.Type, l.ID2); return err }); err != nil {
				return errors.Join(err, c.Close())
			}
			out.hidden.Add(1)
		}
		if n == 20 {
			out.going.Add(1)
		}
	}
}

// until sends again what was rolled back.
func until(send func() error) error {
	for {
		if err := send(); err == nil || drivers.ClassOf(err) != drivers.Retryable {
			return err
		}
	}
}

func killedWorkload(t *testing.T) *stream.Workload {
	t.Helper()
	c := config.Default(config.Demo)
	c.MaxID1 = killedIDs + 1
	r, err := c.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	w, err := stream.New(r)
	if err != nil {
		t.Fatal(err)
	}
	return w
}
