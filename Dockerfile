# qiaocrawl in a container: `docker build -t qiaocrawl .`, then see compose.yaml and docs/running.md.
FROM python:3.11-slim-bookworm

# Chromium for pages that need a browser (QIAO_RENDER): --build-arg CHROMIUM=chromium
ARG CHROMIUM=""
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates mariadb-client ${CHROMIUM} \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /src
# The packages first: they change less often than the code.
COPY requirements.txt constraints.txt ./
RUN sed '/^# --- extras/,$d' requirements.txt >core.txt \
    && pip install --no-cache-dir --constraint constraints.txt -r core.txt \
        ${CHROMIUM:+scrapy-playwright}
COPY pyproject.toml setup.py README.md LICENSE ./
COPY qiaocrawl qiaocrawl
COPY spiders spiders
COPY pipelines pipelines
COPY middlewares middlewares
# `qiaocrawl docs` reads it.
COPY docs docs
# Inner loops become machine code: a C compiler is here for this one step.
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev \
    && PIP_CONSTRAINT=constraints.txt pip install --no-cache-dir --no-deps . \
    && mkdir -p /work \
    && useradd --uid 1000 --home-dir /work qiaocrawl \
    && apt-get purge -y --auto-remove gcc libc6-dev && rm -rf /var/lib/apt/lists/* \
    && chown -R qiaocrawl /work

USER qiaocrawl
# Databases of SQLite, logs and exports: mount a folder here.
WORKDIR /work
VOLUME /work
# SIGTERM ends a crawl in order, and the next run goes on.
STOPSIGNAL SIGTERM
ENTRYPOINT ["qiaocrawl"]
# The console, which also runs what is scheduled; `docker run … run qiaoqing` for one round.
EXPOSE 8808
CMD ["console", "--host", "0.0.0.0"]
