"""What changes a partition: seeding, sweeps, repair, balancing, trees."""
