"""Hot loops of groups without rows near to each other."""
