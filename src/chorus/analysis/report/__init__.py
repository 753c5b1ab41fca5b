"""One self-contained HTML page from run directories: the answer first, then the evidence, then how it was
made.
"""

from chorus.analysis.report.writing import write_dataset_report, write_report
from chorus.analysis.summary import Finding, Summary

__all__ = ["Finding", "Summary", "write_dataset_report", "write_report"]
