"""`retiro cost`: what a year costs, each line units × price, from measured units and dated list prices."""
