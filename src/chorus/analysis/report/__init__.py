"""The report: one self-contained HTML page about run directories, with answers, figures and tables."""

from chorus.analysis.findings import Finding, Summary
from chorus.analysis.report.document import write_dataset_report
from chorus.analysis.report.folders import split_by_folder, write_folder_reports, write_report

__all__ = ["Finding", "Summary", "split_by_folder", "write_dataset_report", "write_folder_reports", "write_report"]
