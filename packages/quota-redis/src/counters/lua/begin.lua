-- Reads the numbers, and prepares lists, tariffs, groups of takes and the bytes of rows.

--- @include "constants"
n = { unpack_text('<' .. rep('d', #ARGV[1] / 8), ARGV[1]) }
now, units = n[NOW], n[UNITS]
if now < 0 then
  local time = call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
  if now >= n[UNTIL] then return now end
end
local at = BEGIN
lists = {}
for l = 1, n[LISTS] do
  local size, cells = n[at + 2], n[at + 3]
  lists[l] = {
    text = n[at + 1], size = size, head = sub(ARGV[n[at + 1]], 1, 5),
    row_bytes = 5 + 13 * size, row_format = '<' .. rep('i7', size) .. rep('I6', size),
    -- Where each cell's kind and length are, and the other lists.
    kind_of = at + 3, length_of = at + 3 + cells, others_at = at + 3 + 2 * cells,
  }
  at = at + 3 + 2 * cells
  local others = n[at + 1]
  at = at + 1
  for _ = 1, others do at = at + 4 + n[at + 4] + 1 + n[at + 5 + n[at + 4]] end
end
--- @include "tariffs"
--- @include "takes"
