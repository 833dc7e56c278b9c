-- Takes that need more than an addition: a window opens, a row is new or has another list, a cost doesn't fit, or a row
-- cannot be read.

local max, min = math.max, math.min

-- @param list of the row, if it may not have been read yet
local function row_at(place, list)
  local row = rows[place]
  if row == UNREAD then row = read(place, list) end
  for c = 1, row and not row.is_new and list_of[place].size or 0 do
    if row[c] < CLOSED or row[c] > MAX_USED then return made.damaged(place) end
  end
  return row
end

-- The tokens that a bucket refilled in a time: age * rate / per, rounded down. Exact beyond 2^53, in digits of 2^14.
function made.came_back(age, rate, per)
  age = min(age, 2 * per)
  if age <= 0 then return 0 end
  if age * rate <= MAX_USED then return math.floor(age * rate / per) end
  local back, rest = 0, 0
  for _, digit in ipairs({ 268435456, 16384, 1 }) do
    rest = rest * 16384 + age * (math.floor(rate / digit) % 16384)
    back, rest = back * 16384 + math.floor(rest / per), rest % per
  end
  return back
end

-- The cost of a cell; 0 if it doesn't count.
local function cost_of(tariff, c, costs)
  local unit = n[tariff + c]
  return unit > 0 and n[costs + unit] or 0
end

-- The used amount of a cell now, and whether a charge continues it: it is open, and not a bucket that is full again.
local function used_in(row, tariff, c)
  local list = n[tariff]
  local size = list.size
  local used, start = row[c], row[size + c]
  if used < 0 or start < n[tariff + 2 * size + c] then return 0, false end
  if n[tariff + size + c] >= 0 then return used, true end
  local back = made.came_back(now - start, n[tariff + 3 * size + c], n[list.length_of + c] / 2)
  if now > start and back >= used then return 0, false end
  return used - back, true
end

-- Whether costs fit in a row.
local function has_room(row, tariff, costs)
  local size = n[tariff].size
  for c = 1, size do
    local cost = cost_of(tariff, c, costs)
    if cost > 0 and used_in(row, tariff, c) + cost > n[tariff + 4 * size + c] then return false end
  end
  return true
end

-- Lowers costs to what fits in a row.
local function lower(row, tariff, costs)
  local size = n[tariff].size
  for c = 1, size do
    local unit = n[tariff + c]
    if unit > 0 then n[costs + unit] = max(0, min(n[costs + unit], n[tariff + 4 * size + c] - used_in(row, tariff, c))) end
  end
end

-- Charges a row. A cell that starts in the far future, opened by a fast clock, moves to the present. A cell that opens starts
-- later than all its earlier openings, so that a start identifies a window. The start of a bucket older than half its length
-- moves by that half: in this time it refilled exactly its limit.
local function charge(row, place, tariff, costs)
  local list = n[tariff]
  local size = list.size
  for c = 1, size do
    local cost = cost_of(tariff, c, costs)
    if cost > 0 then
      local used, before, is_bucket, rate = row[c], row[size + c], n[tariff + size + c] < 0, n[tariff + 3 * size + c]
      local start, opens, per = before, is_bucket and now or rate, n[list.length_of + c] / 2
      local _, goes_on = used_in(row, tariff, c)
      if start > latest and n[list.kind_of + c] ~= SLOTS then start = now + 1 end
      if not goes_on then used, start = 0, max(opens, start + 1)
      elseif is_bucket and now - start >= per then used, start = used - rate, start + per end
      used = used + cost
      row[c], row[size + c] = used < MAX_USED and used or MAX_USED, start
      changes[place] = changes[place] + (start == before and 1 or MOVED)
    end
  end
end

-- Moves cells that start in the far future. A refusal makes no other write.
local function reanchor(row, place, tariff, costs)
  local list = n[tariff]
  for c = 1, list.size do
    local at = list.size + c
    if row[at] > latest and cost_of(tariff, c, costs) > 0 and row[c] ~= CLOSED and n[list.kind_of + c] ~= SLOTS then
      row[at], changes[place] = now + 1, changes[place] + MOVED
    end
  end
end

-- See take. Modes: 'charge' ignores the limits; 'fit' charges as much of each unit as fits in all rows.
function made.take(group, costs, first, mode)
  local why, places = nil, {}
  local shared, tariffs = n[group + SHARED], group + BEHIND_GROUP
  local all = shared + n[group + OWN]
  for r = first, all do
    local place = n[(r > shared and costs + units - shared or tariffs + all) + r]
    local tariff = n[tariffs + r]
    local row = row_at(place, n[tariff])
    places[r] = place
    if is_stopped then return 'l' end
    if not row then why = 'b'
    elseif mode == 'fit' then lower(row, tariff, costs)
    elseif not why and mode ~= 'charge' and not has_room(row, tariff, costs) then why = 'r' end
  end
  for r = first, all do
    local row = rows[places[r]]
    if not why then charge(row, places[r], n[tariffs + r], costs)
    elseif row then reanchor(row, places[r], n[tariffs + r], costs) end
  end
  return why
end

-- Refunds a cell. An amount below 0 charges it, regardless of the limits.
-- @param start of the opening that is refunded; below 0 matches any opening
-- @param closes whether the cell is closed when nothing is left
local function give_back(row, place, c, start, amount, closes)
  local size = list_of[place].size
  local used, started
  if c <= size then used, started = row[c], row[size + c]
  elseif row.others and row.others[c] then used, started = unpack(row.others[c])
  else return end
  if used == CLOSED or start >= 0 and started ~= start then return end
  if used < MAX_USED or amount == math.huge then used = max(0, min(MAX_USED, used - amount)) end
  if closes and used == 0 then used = CLOSED end
  if c <= size then row[c] = used else row.others[c][1] = used end
  changes[place] = changes[place] + 1
end
