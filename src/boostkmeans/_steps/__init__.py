"""The steps that create or change a partition: seeding, sweeps, repair, balancing and trees."""
