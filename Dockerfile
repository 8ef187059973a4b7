# docker build -t crawlgauge . && docker run --rm -v "$PWD:/data" crawlgauge demo
FROM python:3.13-slim-bookworm AS build
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim-bookworm
COPY --from=build /src/constraints.txt /wheels/ /wheels/
RUN python -m pip install --no-cache-dir --find-links /wheels --constraint /wheels/constraints.txt \
    "crawlgauge[remote,text]" \
    && rm -rf /wheels \
    && useradd --uid 1000 --create-home crawlgauge
USER 1000
WORKDIR /data
ENTRYPOINT ["crawlgauge"]
CMD ["demo", "/tmp/demo"]
