"""Measures of rows and clusters: distances, margins, tightness, separation and neighbours."""
