"""Sharded fits: pure functions of one shard, sums in a fixed order, and a driver that decides."""
