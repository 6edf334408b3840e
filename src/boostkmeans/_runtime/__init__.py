"""Services that every layer uses: errors, progress, threads and parameter checks."""
