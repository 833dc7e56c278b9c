-- What all parts know:
local n -- the numbers
local now, size, units -- epoch ms; how many cells a row of the policy's own has; how many units costs have
local unit_of, kind_of, length_of -- where the numbers have that of each cell
local raw, rows, changes -- by place: bytes; rows (UNREAD, or false: cannot be read); how often one changed: see takes.lua
local row_bytes, row_format -- of a row of the policy's own list: how long it is, its cells
local latest -- a cell that starts later was opened by a clock that ran ahead
local lists_at -- where the numbers have other lists
local answers = {}
local is_stopped = false -- an operation met a list that the process does not know: from there on nothing is carried out
local read, take
