"""The diagnosis of one environment: is there a curse of diversity, where does it come from, and what should one use?"""

from chorus.analysis.diagnosis.answers import Diagnosis, diagnose
from chorus.analysis.diagnosis.budgets import with_one_budget
from chorus.analysis.diagnosis.page import write_diagnosis

__all__ = ["Diagnosis", "diagnose", "with_one_budget", "write_diagnosis"]
