"""Does one environment suffer from the curse of diversity, from what, and what to use there?"""

from chorus.analysis.diagnosis.evidence import Evidence, gather
from chorus.analysis.diagnosis.page import write_diagnosis
from chorus.analysis.diagnosis.verdicts import Diagnosis, diagnose

__all__ = ["Diagnosis", "Evidence", "diagnose", "gather", "write_diagnosis"]
