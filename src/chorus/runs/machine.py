"""Which processor computes: results differ in their last digits between kinds, and so do times."""

import platform
from functools import cache
from pathlib import Path

_CPU_FACTS = Path("/proc/cpuinfo")


@cache
def processor() -> str:
    """The processor's name, family and model, and its widest vectors: some share a name and differ in speed."""
    facts = _cpu_facts()
    name = facts.get("model name") or platform.processor() or platform.machine()
    if "flags" not in facts:
        return name
    vectors = next((name for name in ("avx512f", "avx2") if name in facts["flags"].split()), "no AVX2")
    return f"{name}, family {facts.get('cpu family', '?')}, model {facts.get('model', '?')}, {vectors}"


def _cpu_facts() -> dict[str, str]:
    """What Linux says of the first processor, by field; empty elsewhere."""
    try:
        first = _CPU_FACTS.read_text().split("\n\n")[0]
    except OSError:
        return {}
    pairs = (line.partition(":") for line in first.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}
