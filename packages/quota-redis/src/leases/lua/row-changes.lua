-- What operations that are no takes do with rows.

-- The cells of a row; nothing where it cannot be read.
local function cells_at(batch, place)
  local list = fold(row_at(place))
  return not list.is_damaged and list or nil
end

-- Rows as they are now, one behind the other in the policy's own form; damaged ones are shown as such.
local function bytes_of(batch, places)
  local bytes = {}
  for l, place in ipairs(places) do
    local list = cells_at(batch, place)
    bytes[l] = list and own_bytes(n[HEAD], list) or DAMAGED_ROW
  end
  return table.concat(bytes)
end

-- The rest of `used` when some goes back, or comes in addition (below 0); all where more was charged than is counted.
local function less(used, amount)
  if used == MAX_USED then return used end
  local left = used > amount and used - amount or 0
  return left < MAX_USED and left or MAX_USED
end

-- Gives back to a cell, if it is the very one; whether it was. Of slots the last one closes it: a row that is kept is then as
-- one that was dropped.
local function refund(list, c, start, amount)
  if list[c] == CLOSED or list[SIZE + c] ~= start or amount == 0 then return false end
  list[c], list.is_changed = less(list[c], amount), true
  if c > WINDOWS and list[c] == 0 then list[c] = CLOSED end
  return true
end

-- The same as if it had never been charged: a cell that the charge opened and that nothing else used is closed.
local function undo_cell(list, c, start, amount, taken)
  if list[c] == CLOSED or list[SIZE + c] ~= start or amount == 0 then return end
  local left = less(list[c], amount)
  list[c], list.is_changed = left == 0 and start >= taken and CLOSED or left, true
end
