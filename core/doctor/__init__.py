"""What agents could run on here, what each needs, and one real call to each when it is asked for."""
