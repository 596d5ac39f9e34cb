# Hob in a container: built from source, run by an unprivileged user, with git, certificates and bubblewrap only.
#
#   docker build --tag hob .
#
# docs/deploy.md says how to run it. Checks and agents run inside the container: add what they need in your own image,
# `FROM hob`, as user root, and end it with `USER 10001:10001`.

FROM rust:1.95.0-slim-bookworm@sha256:d7482085ff5b415f84dba5647ae71606650bdef00db7aeb69f4b3d170c3e4082 AS build
RUN apt-get update && apt-get install --yes --no-install-recommends make && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
# The dispatcher of docs/deploy.md#kubernetes has `kubernetes`, too.
ARG FEATURES=jemalloc
RUN cargo build --locked --release --package hob --features "$FEATURES"

FROM debian:bookworm-slim@sha256:7b140f374b289a7c2befc338f42ebe6441b7ea838a042bbd5acbfca6ec875818
RUN apt-get update \
 && apt-get install --yes --no-install-recommends bubblewrap ca-certificates git \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 10001 hob \
 && useradd --uid 10001 --gid hob --create-home --shell /usr/sbin/nologin hob \
 && install --directory --owner=hob --group=hob --mode=0700 /var/lib/hob
COPY --from=build /src/target/release/hob /usr/local/bin/hob
# Hob keeps mirrors, checkouts and transcripts in `$XDG_STATE_HOME/hob`.
ENV XDG_STATE_HOME=/var/lib
USER 10001:10001
WORKDIR /home/hob
VOLUME /var/lib/hob
# Hob is process 1: it passes signals on and reaps orphans by itself.
ENTRYPOINT ["hob"]
CMD ["--help"]
