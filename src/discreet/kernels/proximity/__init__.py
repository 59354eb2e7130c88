"""Hot loops for groups without rows near each other."""
