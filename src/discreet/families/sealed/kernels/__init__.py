"""Kernels: arrays in, arrays out, as in `discreet.kernels`."""
