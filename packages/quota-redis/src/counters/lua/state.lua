-- State that all parts share:
local n -- the numbers
local now, units -- epoch ms; units of costs
local lists -- the policy's lists of limits: see begin.lua
local raw, rows, changes -- by place: bytes; rows (UNREAD, or false if unreadable); number of changes: see takes.lua
local list_of -- by place: the list that a row was read with
local latest -- a cell with a later start was opened by a fast clock
local answers = {}
local is_stopped = false -- an operation met a list that the process doesn't know: nothing after it is carried out
local read, take
