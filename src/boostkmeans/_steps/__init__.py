"""The problem, and the steps that change its partition: seeding, sweeps, repair, balancing, trees."""
