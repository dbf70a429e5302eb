"""Policies as .onnx files."""
