-- The layout of a batch's numbers: numbers.ts writes them by the same names.
--
-- The batch begins with these:
local NOW = 1 -- epoch ms; below 0: the server's own time
local UNTIL = 2 -- the server's time from which on nothing is carried out: the callers have been answered
local UNITS = 3 -- units of costs, slots included
local ROWS, RECORDS, INDEXES = 4, 5, 6 -- how many keys of each
local LISTS, TARIFFS, TERMS, OPERATIONS = 7, 8, 9, 10 -- how many of each
local BEGIN = 10
-- Then, in turn:
--
-- LISTS       the policy's lists of limits that rows of the batch have: the argument with the first 5 bytes of such rows and the
--             list; how many cells it has; how many cells there are with those that only other policies have; the kind of each,
--             then its length (ms; infinite for slots and unknown kinds); then other lists: see lists.lua
local CALENDAR, SLOTS, BUCKET = 1, 2, 3 -- kinds; all others are rolling windows
-- TARIFFS     limits and periods of a row: its list, then for cell c of `size`:
--             tariff + c             its unit; 0: it doesn't count
--             tariff + size + c      the limit, MAX_USED at most; below 0 for a bucket
--             tariff + 2 * size + c  the cell is open if it started at this instant or later
--             tariff + 3 * size + c  the start of a cell that opens; for a bucket, which starts now, its refill in half a length
--             tariff + 4 * size + c  the limit itself
--             tariffs.lua computes these from what was sent: units, limits, starts of periods (0 for other cells), their ends
--             (buckets: refills), and the ends of the next periods.
-- TERMS       the groups: settings and limits that takes share
local IS_STALE = 0 -- why takes of this group are stale: set by tariffs.lua
local REVISION = 1 -- the argument with the revision of their settings; 0: none
local SHARED, OWN = 2, 3 -- how many rows are shared, and how many are the subject's own
local BEHIND_GROUP = 3 -- then the tariff of each row, shared ones first; then the place of each shared row
-- OPERATIONS  the count of its numbers, then its steps: see steps.lua. A run begins with this instead:
local RUN = -1 -- then the group, the number of takes, their total costs, and for each take its costs and own rows
--
-- Tariffs and groups are identified by their index here, lists by their order, rows, records and indexes by their index among
-- the keys of their kind, texts by their index among the arguments. Costs are one number per unit.
