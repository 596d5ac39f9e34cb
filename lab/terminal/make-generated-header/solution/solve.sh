#!/usr/bin/env bash
set -euo pipefail
cat > Makefile <<'MAKEFILE'
CC = cc
CFLAGS = -O0 -Wall
OBJECTS = src/main.o src/table.o src/util.o

all: list

list: $(OBJECTS)
	$(CC) $(CFLAGS) -o $@ $(OBJECTS)

# A header that could not be written whole must not be newer than what it is made from.
src/names.h: names.txt gen.sh
	./gen.sh names.txt > $@.new
	mv $@.new $@

src/main.o: src/names.h src/util.h
src/table.o: src/names.h
src/util.o: src/util.h

%.o: %.c
	$(CC) $(CFLAGS) -c -o $@ $<

clean:
	rm -f list $(OBJECTS) src/names.h src/names.h.new

.PHONY: all clean
.DELETE_ON_ERROR:
MAKEFILE
make -j8
make clean
