"""The recodes: each one file, its value and its laws, and one macro of ``recodes.sql.j2``.

Every recode is a function of one value, fixed before the data is looked at (Li, Qardaji and Su,
Definition 3.7), and total: whatever a row holds it gives a value and no error. NULL stays NULL.
"""

from policy_engine.kernel.recodes.bins.recode import Bins
from policy_engine.kernel.recodes.constant.recode import Constant
from policy_engine.kernel.recodes.keep.recode import Keep
from policy_engine.kernel.recodes.map.recode import Map
from policy_engine.kernel.recodes.prefix.recode import Prefix
from policy_engine.kernel.recodes.round.recode import Round
from policy_engine.kernel.recodes.truncate.recode import Truncate

__all__ = ["Bins", "Constant", "Keep", "Map", "Prefix", "Recode", "Round", "Truncate"]

Recode = Keep | Bins | Map | Prefix | Round | Truncate | Constant
