package mongo

import (
	"context"
	"fmt"

	"insertbench/linkbench"
	"insertbench/linkbench/graph"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// TableRows counts documents by reading them: the number that a server keeps
// may be wrong after a crash.
func (g *Graph) TableRows(ctx context.Context) (r linkbench.Rows, err error) {
	for _, t := range []struct {
		name string
		rows *int64
	}{{nodeTable, &r.Nodes}, {linkTable, &r.Links}, {countTable, &r.Counts}} {
		if *t.rows, err = g.countDocuments(ctx, t.name); err != nil {
			return r, fmt.Errorf("counting the documents of collection %s.%s: %w", g.cfg.Database, t.name, err)
		}
	}
	return r, nil
}

func (g *Graph) countDocuments(ctx context.Context, collection string) (int64, error) {
	command := g.withConcern(bson.D{{Key: "aggregate", Value: collection}, {Key: "cursor", Value: bson.D{}},
		{Key: "pipeline", Value: bson.A{bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: nil},
			{Key: "n", Value: bson.D{{Key: "$sum", Value: int64(1)}}}}}}}}})
	var reply bson.Raw
	err := g.whileAlive(ctx, func(ctx context.Context) (err error) {
		reply, err = readOn(ctx, g.database(), command)
		return err
	})
	if err != nil {
		return 0, err
	}
	groups, err := firstBatch(reply)
	if err != nil || len(groups) == 0 {
		return 0, err
	}
	return wholeNumber(groups[0], "n")
}

// SumNodes sums up nodes.
func (g *Graph) SumNodes(ctx context.Context, from, to int64) (sums linkbench.NodeSums, err error) {
	var n graph.Node
	err = g.each(ctx, nodeTable, from, to, bson.D{{Key: "data", Value: 1}}, func(doc bson.Raw) error {
		if err := readNode(doc, &n); err != nil {
			return err
		}
		sums.Rows++
		sums.DataBytes += int64(len(n.Data))
		return nil
	})
	if err != nil {
		return sums, fmt.Errorf("adding up nodes %d to %d of collection %s.%s: %w", from, to-1, g.cfg.Database, nodeTable, err)
	}
	return sums, nil
}

// SumLinks visits a sum for each id1 that has links of the type. Links come in
// the order of their keys, type, id1, id2, and are added up here: a server's
// grouping would hold all the groups.
func (g *Graph) SumLinks(ctx context.Context, linkType, from, to int64, visit func(linkbench.LinkSums) error) error {
	var l graph.Link
	var sums linkbench.LinkSums
	err := g.each(ctx, linkTable, linkBound(linkType, from), linkBound(linkType, to), bson.D{{Key: "_id", Value: 0}}, func(doc bson.Raw) error {
		if err := readLink(doc, &l); err != nil {
			return err
		}
		if sums.Links > 0 && sums.ID1 != l.ID1 {
			if err := visit(sums); err != nil {
				return err
			}
			sums = linkbench.LinkSums{}
		}
		sums.ID1 = l.ID1
		sums.Links++
		if l.Visibility == graph.Visible {
			sums.Visible++
		}
		sums.SumID2 += l.ID2
		sums.DataBytes += int64(len(l.Data))
		return nil
	})
	if err == nil && sums.Links > 0 {
		err = visit(sums)
	}
	if err != nil {
		return fmt.Errorf("adding up links of ids %d to %d of collection %s.%s: %w", from, to-1, g.cfg.Database, linkTable, err)
	}
	return nil
}

func linkBound(linkType, id1 int64) primitive.Binary {
	return primitive.Binary{Data: linkKey(nil, linkType, id1, 0)}
}

// ScanCounts visits the count rows of the type.
func (g *Graph) ScanCounts(ctx context.Context, linkType, from, to int64, visit func(graph.Count) error) error {
	var c graph.Count
	bound := func(id int64) primitive.Binary { return primitive.Binary{Data: countKey(nil, id, 0)} }
	err := g.each(ctx, countTable, bound(from), bound(to), bson.D{{Key: "_id", Value: 0}}, func(doc bson.Raw) error {
		if err := readCount(doc, &c); err != nil || c.Type != linkType {
			return err
		}
		return visit(c)
	})
	if err != nil {
		return fmt.Errorf("reading counts of ids %d to %d of collection %s.%s: %w", from, to-1, g.cfg.Database, countTable, err)
	}
	return nil
}

// each reads documents whose _id is from ≤ _id < to, in that order.
func (g *Graph) each(ctx context.Context, collection string, from, to any, projection bson.D, visit func(bson.Raw) error) error {
	return g.whileAlive(ctx, func(ctx context.Context) error {
		cursor, err := g.database().Collection(collection).Find(ctx,
			bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: from}, {Key: "$lt", Value: to}}}},
			options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}).SetHint(bson.D{{Key: "_id", Value: 1}}).SetProjection(projection).SetBatchSize(10_000))
		if err != nil {
			return err
		}
		defer cursor.Close(ctx)
		for cursor.Next(ctx) {
			if err := visit(cursor.Current); err != nil {
				return err
			}
		}
		return cursor.Err()
	})
}
