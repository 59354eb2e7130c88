"""Groups that tell an adversary who knows the algorithm no more than is promised: cuts under a seal."""
