"""The documents' experiments, run again with our own code: workloads, measurements, figures and a report.

`python -m dovetail.lab` runs them all. Every experiment leaves a figure (PNG and SVG), the numbers behind it (JSON) and
rows of a report that set what the document says beside what was measured here.
"""
