package mysql

import (
	"context"
	"fmt"

	"insertbench/drivers/sqltext"
	"insertbench/linkbench"
	"insertbench/linkbench/graph"
)

// TableRows counts all rows. It has no deadline, nor have the sums below.
func (g *Graph) TableRows(ctx context.Context) (r linkbench.Rows, err error) {
	for _, t := range []struct {
		name string
		rows *int64
	}{{sqltext.NodeTable, &r.Nodes}, {sqltext.LinkTable, &r.Links}, {sqltext.CountTable, &r.Counts}} {
		err := g.long(ctx, func(ctx context.Context) error {
			return g.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+t.name).Scan(t.rows)
		})
		if err != nil {
			return r, fmt.Errorf("counting the rows of table %s: %w", g.table(t.name), err)
		}
	}
	return r, nil
}

// SumNodes sums up nodes.
func (g *Graph) SumNodes(ctx context.Context, from, to int64) (n linkbench.NodeSums, err error) {
	err = g.long(ctx, func(ctx context.Context) error {
		return g.db.QueryRowContext(ctx, sqltext.SumNodesText, from, to).Scan(&n.Rows, &n.DataBytes)
	})
	if err != nil {
		return n, fmt.Errorf("adding up nodes %d to %d of table %s: %w", from, to-1, g.table(sqltext.NodeTable), err)
	}
	return n, nil
}

// SumLinks visits a sum for each id1 that has links of the type. It reads the
// primary key, where they are in order.
func (g *Graph) SumLinks(ctx context.Context, linkType, from, to int64, visit func(linkbench.LinkSums) error) error {
	err := g.each(ctx, sqltext.SumLinksText("linktable FORCE INDEX (PRIMARY)"), linkType, from, to, func(scan func(...any) error) error {
		var s linkbench.LinkSums
		if err := scan(&s.ID1, &s.Links, &s.Visible, &s.SumID2, &s.DataBytes); err != nil {
			return err
		}
		return visit(s)
	})
	if err != nil {
		return fmt.Errorf("adding up links of ids %d to %d of table %s: %w", from, to-1, g.table(sqltext.LinkTable), err)
	}
	return nil
}

// ScanCounts visits the count rows of the type.
func (g *Graph) ScanCounts(ctx context.Context, linkType, from, to int64, visit func(graph.Count) error) error {
	err := g.each(ctx, sqltext.ScanCountsText, linkType, from, to, func(scan func(...any) error) error {
		var c graph.Count
		if err := scan(&c.ID, &c.Type, &c.Count, &c.TimeMS, &c.Version); err != nil {
			return err
		}
		return visit(c)
	})
	if err != nil {
		return fmt.Errorf("reading counts of ids %d to %d of table %s: %w", from, to-1, g.table(sqltext.CountTable), err)
	}
	return nil
}

func (g *Graph) each(ctx context.Context, query string, linkType, from, to int64, row func(scan func(...any) error) error) error {
	return g.long(ctx, func(ctx context.Context) error {
		rows, err := g.db.QueryContext(ctx, query, linkType, from, to)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := row(rows.Scan); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}
