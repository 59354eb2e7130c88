"""Double-double numbers: sums of two floats with twice the digits, so that comparisons deciding a promise are exact."""

from discreet.kernels.compiling import part_in_place


@part_in_place
def sum_of(a, b):
    """Return the sum of two numbers, and its rounding error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@part_in_place
def product_of(a, b):
    """Return the product of two numbers (of fewer than 900 bits), and its rounding error."""
    product = a * b
    split = 134217729.0 * a  # 2^27 + 1: halves of 26 bits, whose products are exact
    a_high = split - (split - a)
    a_low = a - a_high
    split = 134217729.0 * b
    b_high = split - (split - b)
    b_low = b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


@part_in_place
def added(high, low, more, rest):
    """Return the sum of two double-double numbers."""
    total, off = sum_of(high, more)
    lower, least = sum_of(low, rest)
    total, off = sum_of(total, off + lower)
    return sum_of(total, off + least)


@part_in_place
def multiplied(high, low, by, rest):
    """Return the product of two double-double numbers."""
    product, off = product_of(high, by)
    return sum_of(product, off + (high * rest + low * by))
