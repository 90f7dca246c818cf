package stream

import (
	"slices"

	"insertbench/linkbench/graph"
)

// hashOrders lists types in the order Java's HashMap iterates over them, for each capacity the map of one id's
// counts can have. The original writes counts in that order: of two types the second first.
func hashOrders(types int) [][]int {
	var orders [][]int
	for capacity := int64(16); ; capacity *= 2 {
		order := make([]int, types)
		for k := range order {
			order[k] = k
		}
		bucket := func(k int) int64 {
			h := graph.FirstLinkType + int64(k) // below 2^31, so its Java hash is itself
			return (h ^ h>>16) & (capacity - 1)
		}
		slices.SortStableFunc(order, func(a, b int) int { return int(bucket(a) - bucket(b)) })
		orders = append(orders, order)
		if capacity*3/4 >= int64(types) {
			return orders
		}
	}
}

// countOrder is the order of all types for an id with counts of so many.
func (w *Workload) countOrder(present int64) []int {
	i := 0
	for capacity := int64(16); capacity*3/4 < present; capacity *= 2 {
		i++
	}
	return w.countOrders[i]
}
