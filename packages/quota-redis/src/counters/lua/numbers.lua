-- Where the numbers of a batch stand: numbers.ts writes them by the same names.
--
-- The batch begins with these:
local NOW = 1 -- epoch ms; below 0: the server's own time
local SIZE = 2 -- cells of a row of the policy's own list
local UNITS = 3 -- units of costs, slots among them
local ROWS, RECORDS, INDEXES = 4, 5, 6 -- how many keys of each
local CELLS = 7 -- cells in all: the policy's own, then those that only other policies have
local TARIFFS, TERMS, LISTS, OPERATIONS = 8, 9, 10, 11 -- how many of each
local BEGIN = 11
-- Then, in turn:
--
-- CELLS       the unit of each, then its kind, then its length (ms, infinite: slots, or a kind that is not known)
local CALENDAR, SLOTS, BUCKET = 1, 2, 3 -- kinds; all others are rolling windows
-- TARIFFS     limits and periods of a row. Of cell c, `tariff + c` is the limit, or MAX_USED where that is higher, and
--             `tariff + 3 * size + c` is the limit itself; a cell is open if it started at `tariff + size + c` or later, and one
--             that opens starts at `tariff + 2 * size + c`. Of a bucket `tariff + c` is below 0, and `tariff + 2 * size + c` is
--             how many tokens come back in half its length; one that opens starts now. (tariffs.lua makes that of what was
--             sent: 0, limits, lengths (of the calendar: starts of periods), their ends (what comes back), the ends of the next.)
-- TERMS       what takes have in common
local IS_STALE = 0 -- why takes of this group are stale: made ready by tariffs.lua
local REVISION = 1 -- which argument is the revision of the settings that they follow; 0: they follow none
local SHARED, OWN = 2, 3 -- how many shared rows, how many of the subject's own
local BEHIND_GROUP = 3 -- then the tariff of each row, shared ones first; then the place of each shared row
-- LISTS       other lists of limits: see lists.lua
-- OPERATIONS  each begins with how many numbers it has, then its steps: see steps.lua. A run begins with this instead:
local RUN = -1 -- then the group, how many takes, what they cost in all, and of each what it costs and its own rows
--
-- Tariffs and groups are named by where they stand, rows, records and indexes by their places among the keys of their kind,
-- texts by their places among the arguments. Costs are one number a unit.
