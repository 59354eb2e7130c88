"""How each format of release is audited, a package each; `discreet.adversary.auditors` knows them all."""
