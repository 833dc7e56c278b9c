-- State that all parts share:
local n -- the numbers
local now, size, units -- epoch ms; cells of a row of the policy's own list; units of costs
local unit_of, kind_of, length_of -- indexes of each cell's unit, kind and length among the numbers
local raw, rows, changes -- by index: bytes; rows (UNREAD, or false if unreadable); number of changes: see takes.lua
local row_bytes, row_format -- length and cells of a row of the policy's own list
local latest -- a cell with a later start was opened by a fast clock
local lists_at -- index of the other lists among the numbers
local answers = {}
local is_stopped = false -- an operation met a list that the process doesn't know: nothing after it is carried out
local read, take
