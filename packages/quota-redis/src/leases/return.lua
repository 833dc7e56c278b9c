-- Takes back what a process did not use of a lease: once, and never more than was leased.
--
-- KEYS          as in begin.lua, then
--       3       the book of leases, or missing; see grant.lua
--       4..     rows, one a layer
-- NUMBERS       as in rows.lua, then: tokens, starts of W windows of each row
-- ARGV  3       the lease's id
-- REPLY tokens that were credited to the windows that are open still since those starts
--
-- Without a record nothing is credited: the lease was returned before, or forgotten.

local tokens = number()
local value = call('GET', KEYS[3])
local book = value and cmsgpack.unpack(value)
local lease = book and book[2][ARGV[3]]
if not lease then return 0 end
if tokens > lease[1] then tokens = lease[1] end

for place = 1, #KEYS - FIRST_ROW + 1 do
  local list, found = row_at(place), false
  for w = 1, W do
    local start = number()
    if w <= V and list and refund(list, w, start, tokens) then found = true end
  end
  if found then put(place, packed(list), list.others and ends_of(list)) end
end

-- Gone first: what is not credited is lost, but nothing is credited twice.
book[2][ARGV[3]] = nil
call('SET', KEYS[3], cmsgpack.pack(book), 'KEEPTTL')
