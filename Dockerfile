# discreet with pages and attacks, for machines without a network:
#
#     docker build -t discreet .
#     docker run --rm --network none --read-only --user "$(id -u):$(id -g)" -v "$PWD:/data" discreet \
#         publish patients.csv -o release --quasi age,sex,zip --sensitive disease --promise "beta-likeness(beta=2)"

FROM python:3.11-slim AS build
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.11-slim
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir "$(echo /wheels/discreet-*.whl)[report,attacks]" && rm -rf /wheels

# Numerical code is compiled when the image is built: a read-only container could not keep it, and would compile for half
# a minute in every run. It is compiled for any processor of this architecture, as the image may be run on another one.
# The folder belongs to root and is open to all for reading; discreet uses a folder of kernels that nobody else can have
# filled, whoever runs it.
ENV NUMBA_CACHE_DIR=/opt/discreet NUMBA_CPU_NAME=generic
RUN cd /tmp \
    && python -c "from pyarrow.csv import write_csv; from discreet.datasets import census_arrow; \
write_csv(census_arrow(2000), 'census.csv')" \
    && roles="--quasi age,gender,education --sensitive" \
    && discreet compare census.csv $roles occupation --promise "beta-likeness(beta=4)" --html page.html \
        --schemes cuts,mondrian,burel,lifting,heterogeneous,sealed,perturbation \
    && discreet compare census.csv $roles salary --promise "proximity(epsilon=3, m=3)" --schemes proximity \
    && discreet compare census.csv $roles occupation --promise "alpha-beta(alpha=0.5, beta=0.3)" --schemes ambiguity \
    && discreet publish census.csv -o release $roles occupation --promise "beta-likeness(beta=4)" --trace trace.csv \
    && discreet audit release --original census.csv --trace trace.csv \
    && discreet attack release --original census.csv \
    && discreet query release "SELECT gender, COUNT(*) FROM t WHERE age >= 40 GROUP BY gender" \
    && chmod -R a+rX,go-w /opt/discreet && rm -rf /tmp/*

# Nobody's user: --user names the owner of the files in /data. There is no home folder to write to.
RUN useradd --system --uid 10001 --no-create-home --home-dir /nonexistent discreet
USER discreet
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
WORKDIR /data
ENTRYPOINT ["discreet"]
CMD ["--help"]
