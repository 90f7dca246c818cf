package stream

import "insertbench/linkbench/javarand"

// historyEntries is how many list queries with older pages a requester remembers.
const historyEntries = 2048

type listKey struct{ id1, typ int64 }

type page struct {
	listKey
	oldestMS int64 // time of the last link the page held
}

// history remembers, of lists longer than a query returns, where the pages seen so far end. Unlike the
// original's its index loses the entries it evicts.
type history struct {
	pages []page
	index map[listKey]int
}

func newHistory() *history { return &history{index: map[listKey]int{}} }

// add remembers the end of a full first page unless its list is known already; a random entry makes way.
func (h *history) add(p page, rng *javarand.Random) {
	if _, ok := h.index[p.listKey]; ok {
		return
	}
	at := len(h.pages)
	if at < historyEntries {
		h.pages = append(h.pages, p)
	} else {
		at = int(rng.Int32n(historyEntries))
		delete(h.index, h.pages[at].listKey)
		h.pages[at] = p
	}
	h.index[p.listKey] = at
}

// choose draws an entry; there must be one.
func (h *history) choose(rng *javarand.Random) page {
	return h.pages[rng.Int32n(int32(len(h.pages)))]
}

// advance moves the entry of a list to the end of its next page.
func (h *history) advance(k listKey, oldestMS int64) {
	if i, ok := h.index[k]; ok {
		h.pages[i].oldestMS = oldestMS
	}
}

// remove forgets a list whose last page has been seen.
func (h *history) remove(k listKey) {
	i, ok := h.index[k]
	if !ok {
		return
	}
	last := len(h.pages) - 1
	h.pages[i] = h.pages[last]
	h.index[h.pages[i].listKey] = i
	h.pages = h.pages[:last]
	delete(h.index, k)
}
