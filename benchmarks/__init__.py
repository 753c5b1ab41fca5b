"""Speed, as ratios taken within one run; `make bench` runs all of them."""
