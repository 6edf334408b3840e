"""Pure functions of one shard, which run as tasks on the workers."""
