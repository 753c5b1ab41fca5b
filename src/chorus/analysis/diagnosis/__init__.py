"""The diagnosis of one environment: is there a curse of diversity, where does it come from, and what should one use?"""

from chorus.analysis.diagnosis.page import write_diagnosis
from chorus.analysis.diagnosis.verdicts import Diagnosis, diagnose

__all__ = ["Diagnosis", "diagnose", "write_diagnosis"]
