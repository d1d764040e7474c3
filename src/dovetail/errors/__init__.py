"""Every message that Dovetail can raise, one named constructor per error.

Three families: `UsageError` (the caller can mend it), `UnsupportedError` (a thing this host lacks and another has) and
`InternalError` (our own mistake). A message says what, what was got, the rule, and a hint, in one line.

`UsageError` is by far the largest. Each file holds what can be said of one subject, as a class `Of...` of constructors;
`UsageError` puts them together, and they are called by its name alone. They go in the order of a call: its options and
inputs, names and texts, types, aggregates, algorithms; then what each kind of join and each host asks for.
"""

from dovetail.errors._aggregates import OfAggregates
from dovetail.errors._algorithms import OfAlgorithms
from dovetail.errors._commands import OfCommands
from dovetail.errors._conditions import OfConditions
from dovetail.errors._engines import OfEngines
from dovetail.errors._family import DovetailError
from dovetail.errors._files import OfFiles
from dovetail.errors._inputs import OfInputs
from dovetail.errors._internal import InternalError
from dovetail.errors._logs import OfLogs
from dovetail.errors._names import OfNames
from dovetail.errors._options import OfOptions
from dovetail.errors._rings import OfRings
from dovetail.errors._sessions import OfSessions
from dovetail.errors._streaming_frames import OfStreamingFrames
from dovetail.errors._streams import OfStreams
from dovetail.errors._texts import OfTexts
from dovetail.errors._times import OfTimes
from dovetail.errors._unsupported import UnsupportedError
from dovetail.errors._validity import OfValidity
from dovetail.errors._values import OfValues
from dovetail.errors._windows import OfWindows

__all__ = ["DovetailError", "InternalError", "UnsupportedError", "UsageError"]


class UsageError(
    OfOptions,
    OfInputs,
    OfNames,
    OfTexts,
    OfConditions,
    OfValues,
    OfAggregates,
    OfAlgorithms,
    OfTimes,
    OfWindows,
    OfValidity,
    OfStreams,
    OfStreamingFrames,
    OfEngines,
    OfLogs,
    OfRings,
    OfFiles,
    OfCommands,
    OfSessions,
    ValueError,
):
    """A call that cannot be carried out as it stands."""
