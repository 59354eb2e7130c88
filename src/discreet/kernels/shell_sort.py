"""Sorting within kernels: numpy's own way takes longer to compile than all else that a kernel does."""

from discreet.kernels.compiling import part_in_place


@part_in_place
def sort(numbers):
    """Put numbers in ascending order, in place, by Shell's method."""
    n = numbers.shape[0]
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for t in range(gap, n):
            number = numbers[t]
            at = t
            while at >= gap and numbers[at - gap] > number:
                numbers[at] = numbers[at - gap]
                at -= gap
            numbers[at] = number
        gap //= 3
