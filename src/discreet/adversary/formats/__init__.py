"""The audit of each release format, one package per format; `discreet.adversary.auditors` lists them all."""
