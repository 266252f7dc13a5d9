# triage in a container; docs/install.md says how to run it. Holds no secret and no configuration.
FROM python:3.11-slim-bookworm AS build
WORKDIR /src
COPY . .
# The versions that were tested, each one checked against its hash.
RUN awk '/^# part: /{on = $3 == "product" || $3 == "postgres"} on' requirements.lock >/tmp/requirements.txt \
    && python -m venv /opt/triage \
    && /opt/triage/bin/pip install --no-cache-dir --require-hashes -r /tmp/requirements.txt \
    && /opt/triage/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.11-slim-bookworm
RUN apt-get update \
    && apt-get install -y --no-install-recommends git openssh-client tini tmux \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --user-group --create-home triage \
    && install -d -o triage -g triage -m 0700 /var/lib/triage \
    && install -d /etc/triage /code
COPY --from=build /opt/triage /opt/triage
COPY manifest.yml /etc/triage/
ENV PATH=/opt/triage/bin:$PATH TRIAGE_HOME=/var/lib/triage
USER 10001:10001
WORKDIR /etc/triage
VOLUME /var/lib/triage
# The process and its line to Slack, from one small file; a first index may take minutes.
HEALTHCHECK --interval=30s --timeout=10s --start-period=10m CMD ["triage", "status", "--check"]
ENTRYPOINT ["tini", "--", "triage"]
CMD ["run"]
