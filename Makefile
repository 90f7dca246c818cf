# Every target works on a fresh checkout with Go 1.26; test installs and
# starts the database servers it can, and says what it skipped and why.
.PHONY: demo build test race lint bench agree

build:
	CGO_ENABLED=0 go build -trimpath -o bin/ ./cmd/...

# The main job with nothing installed: a load into the embedded SQLite.
demo: build
	bin/ibench load --path=bin/demo.sqlite --drop --rows=500k

test:
	scripts/test.sh

race:
	scripts/test.sh -race

lint:
	test -z "$$(gofmt -l cmd drivers ibench internal iostat linkbench results | tee /dev/stderr)"
	go vet ./...
	go tool staticcheck ./...
	GOOS=darwin go build ./...
	GOOS=windows go build ./...

# Prints ns per row, allocations, and the multiple of a floor measured in the
# same program.
bench:
	scripts/test.sh -run '^$$' -bench . -benchmem

# Compares ibench iostat with iostat -y -kx 1 and vmstat 1 beside it, under load.
agree:
	IOSTAT_AGREE=1 go test -count=1 -v -run TestAgreement ./iostat
