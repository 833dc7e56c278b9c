-- Takes back what a process did not use of a lease: once, and never more than was leased. Without the lease in the book nothing
-- is credited: it was returned before, or forgotten.
--
-- KEYS  as of a batch of the counters, and last the book
-- ARGV  as of a batch without operations
--       4    JSON: `lease`, its id; `units`, their names; `amounts`; `starts` of the cells of each row, -1: not open
-- REPLY as of a batch; list: what was credited of each unit, to windows that still have these starts

--- @include "book"
local lease, amounts = leases[call_of.lease], in_units()
for place = 1, n[ROWS] do row_at(place) end
if is_stopped then statuses, done = { 'l' }, 1
elseif lease then
  for u, most in ipairs(in_units(lease[1])) do amounts[u] = min(call_of.amounts[u], most) end
  for place = 1, n[ROWS] do
    for c = 1, size do
      local start, amount = call_of.starts[(place - 1) * size + c], amounts[n[unit_of + c]]
      if start >= 0 and amount and rows[place] then give_back(rows[place], place, c, start, amount, false) end
    end
  end
  leases[call_of.lease] = nil
  keep_book()
end
answer_amounts(amounts)

--- @include "../../counters/lua/finish"
