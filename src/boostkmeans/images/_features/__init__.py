"""Vectors of images that other programs computed: ONNX models, and files with one vector per image."""
