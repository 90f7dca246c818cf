package mongo_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"insertbench/drivers/mongo"
	"insertbench/ibench"
)

// serveElsewhere runs the wire server in another process, so that its work
// isn't measured, and gives its URI.
func serveElsewhere(b *testing.B) string {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envServe+"=1")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			b.Error(err)
		}
	})
	uri, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(uri)
}

// The cost of the raw path, in ns per document: making rows and encoding
// them, sending a command that is already built, and both together. The
// whole should be at most 1.5 times the sum of the parts.
func BenchmarkInsert(b *testing.B) {
	for _, size := range []int{100, 1000} {
		b.Run(fmt.Sprintf("docs=%d", size), func(b *testing.B) {
			uri := serveElsewhere(b)
			db := open(b, mongo.Config{URI: uri})
			rows := ibench.NewRows(1, 0, ibench.DefaultRowSpec())
			var row ibench.Row
			build := func(in ibench.Inserter, from int64) {
				in.Reset()
				for i := from; i < from+int64(size); i++ {
					rows.At(i, &row)
					in.Append(&row)
				}
			}
			send := func(b *testing.B, in ibench.Inserter) {
				if err := in.Insert(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			perDocument := func(b *testing.B) {
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/doc")
			}
			b.Run("generate", func(b *testing.B) {
				in := openInserter(b, db, "pi1")
				build(in, 0)
				b.ReportAllocs()
				for n := 0; b.Loop(); n++ {
					build(in, int64(n*size))
				}
				perDocument(b)
			})
			b.Run("send", func(b *testing.B) {
				in := openInserter(b, db, "pi1")
				build(in, 0)
				b.ReportAllocs()
				for b.Loop() {
					send(b, in)
				}
				perDocument(b)
			})
			b.Run("whole", func(b *testing.B) {
				in := openInserter(b, db, "pi1")
				b.ReportAllocs()
				for n := 0; b.Loop(); n++ {
					build(in, int64(n*size))
					send(b, in)
				}
				perDocument(b)
			})
		})
	}
}
