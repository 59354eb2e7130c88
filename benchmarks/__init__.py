"""Measurements that take too long for the test suite; `make bench` runs them all."""
