"""What every layer needs: errors, progress, threads, parameter checks."""
