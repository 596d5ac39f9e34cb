# Hob in a container: built from source, run by an unprivileged user, with git and certificates only.
#
#   docker build --tag hob .
#   docker run --rm --init --env GITHUB_TOKEN --volume hob-state:/var/lib/hob hob run --repo OWNER/NAME
#
# Checks and agents run inside the container: add what they need in your own image, `FROM hob`, as user root, and end it with
# `USER 10001:10001`.

FROM rust:1-slim-bookworm AS build
RUN apt-get update && apt-get install --yes --no-install-recommends make && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN cargo build --locked --release --package hob --features jemalloc

FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates git \
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
ENTRYPOINT ["hob"]
CMD ["--help"]
