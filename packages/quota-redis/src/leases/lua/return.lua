-- Credits the unused part of a lease: once, and never more than was leased. If the book doesn't contain the lease, nothing is
-- credited: it was returned before, or has expired.
--
-- KEYS  as for a batch of the counters, then the book
-- ARGV  as for a batch without operations
--       2    JSON: `lease`, its id; `units`, their names; `amounts`; `rows`: the list of each row, and per
--           cell its unit and its start, -1 if not open
-- REPLY as for a batch; the amount credited per unit, to windows that still have these starts

--- @include "book"
local lease, amounts = leases[call_of.lease], in_units()
for place, row in ipairs(call_of.rows) do row_at(place, lists[row.list]) end
if is_stopped then statuses, done = { 'l' }, 1
elseif lease then
  for u, most in ipairs(in_units(lease[1])) do amounts[u] = min(call_of.amounts[u], most) end
  for place, row in ipairs(call_of.rows) do
    for c, start in ipairs(row.starts) do
      local amount = amounts[row.units[c]]
      if start >= 0 and amount and rows[place] then give_back(rows[place], place, c, start, amount, false) end
    end
  end
  leases[call_of.lease] = nil
  keep_book()
end
answer_amounts(amounts)

--- @include "../../counters/lua/finish"
