-- The layout of a batch's numbers: numbers.ts writes them by the same names.
--
-- The batch begins with these:
local NOW = 1 -- epoch ms; below 0: the server's own time
local SIZE = 2 -- cells of a row of the policy's own list
local UNITS = 3 -- units of costs, slots included
local ROWS, RECORDS, INDEXES = 4, 5, 6 -- how many keys of each
local CELLS = 7 -- all cells: the policy's own, then those that only other policies have
local TARIFFS, TERMS, LISTS, OPERATIONS = 8, 9, 10, 11 -- how many of each
local BEGIN = 11
-- Then, in turn:
--
-- CELLS       the unit of each, then its kind, then its length (ms; infinite for slots and unknown kinds)
local CALENDAR, SLOTS, BUCKET = 1, 2, 3 -- kinds; all others are rolling windows
-- TARIFFS     limits and periods of a row. For cell c:
--             tariff + c             the limit, MAX_USED at most; below 0 for a bucket
--             tariff + size + c      the cell is open if it started at this instant or later
--             tariff + 2 * size + c  the start of a cell that opens; for a bucket, which starts now, its refill in half a length
--             tariff + 3 * size + c  the limit itself
--             tariffs.lua computes these from what was sent: 0, limits, lengths (calendar: starts of periods), their ends
--             (buckets: refills), and the ends of the next periods.
-- TERMS       the groups: settings and limits that takes share
local IS_STALE = 0 -- why takes of this group are stale: set by tariffs.lua
local REVISION = 1 -- the argument with the revision of their settings; 0: none
local SHARED, OWN = 2, 3 -- how many rows are shared, and how many are the subject's own
local BEHIND_GROUP = 3 -- then the tariff of each row, shared ones first; then the place of each shared row
-- LISTS       other lists of limits: see lists.lua
-- OPERATIONS  the count of its numbers, then its steps: see steps.lua. A run begins with this instead:
local RUN = -1 -- then the group, the number of takes, their total costs, and for each take its costs and own rows
--
-- Tariffs and groups are identified by their index here, rows, records and indexes by their index among the keys of their kind,
-- texts by their index among the arguments. Costs are one number per unit.
