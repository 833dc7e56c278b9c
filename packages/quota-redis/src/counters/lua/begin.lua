-- Reads the numbers, and prepares tariffs, groups of takes and the bytes of rows.

--- @include "constants"
n = { unpack_text('<' .. rep('d', #ARGV[1] / 8), ARGV[1]) }
now, size, units = n[NOW], n[SIZE], n[UNITS]
if now < 0 then
  local time = call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
--- @include "tariffs"
lists_at = at
for _ = 1, n[LISTS] do at = at + 4 + n[at + 4] + 1 + n[at + 5 + n[at + 4]] end
--- @include "takes"
