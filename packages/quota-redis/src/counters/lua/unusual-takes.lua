-- Takes that need more than an addition: a window opens, a row is new or has another list, a cost doesn't fit, or a row
-- cannot be read.

local max, min = math.max, math.min

local function row_at(place)
  local row = rows[place]
  if row == UNREAD then row = read(place) end
  for c = 1, row and not row.is_new and size or 0 do
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

-- The used amount of a cell now, and whether a charge continues it: it is open, and not a bucket that is full again.
local function used_in(row, tariff, c)
  local used, start = row[c], row[size + c]
  if used < 0 or start < n[tariff + size + c] then return 0, false end
  if n[tariff + c] >= 0 then return used, true end
  local back = made.came_back(now - start, n[tariff + 2 * size + c], n[length_of + c] / 2)
  if now > start and back >= used then return 0, false end
  return used - back, true
end

-- Whether costs fit in a row.
local function has_room(row, tariff, costs)
  for c = 1, size do
    local cost = n[costs + n[unit_of + c]]
    if cost > 0 and used_in(row, tariff, c) + cost > n[tariff + 3 * size + c] then return false end
  end
  return true
end

-- Lowers costs to what fits in a row.
local function lower(row, tariff, costs)
  for c = 1, size do
    local cost, used = costs + n[unit_of + c], used_in(row, tariff, c)
    n[cost] = max(0, min(n[cost], n[tariff + 3 * size + c] - used))
  end
end

-- Charges a row. A cell that starts in the far future, opened by a fast clock, moves to the present. A cell that opens starts
-- later than all its earlier openings, so that a start identifies a window. The start of a bucket older than half its length
-- moves by that half: in this time it refilled exactly its limit.
local function charge(row, place, tariff, costs)
  for c = 1, size do
    local cost = n[costs + n[unit_of + c]]
    if cost > 0 then
      local used, before, is_bucket = row[c], row[size + c], n[tariff + c] < 0
      local start, opens, per = before, is_bucket and now or n[tariff + 2 * size + c], n[length_of + c] / 2
      local _, goes_on = used_in(row, tariff, c)
      if start > latest and n[kind_of + c] ~= SLOTS then start = now + 1 end
      if not goes_on then used, start = 0, max(opens, start + 1)
      elseif is_bucket and now - start >= per then used, start = used - n[tariff + 2 * size + c], start + per end
      used = used + cost
      row[c], row[size + c] = used < MAX_USED and used or MAX_USED, start
      changes[place] = changes[place] + (start == before and 1 or MOVED)
    end
  end
end

-- Moves cells that start in the far future. A refusal makes no other write.
local function reanchor(row, place, costs)
  for c = 1, size do
    if row[size + c] > latest and n[costs + n[unit_of + c]] > 0 and row[c] ~= CLOSED and n[kind_of + c] ~= SLOTS then
      row[size + c], changes[place] = now + 1, changes[place] + MOVED
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
    local row, tariff = row_at(place), n[tariffs + r]
    places[r] = place
    if is_stopped then return 'l' end
    if not row then why = 'b'
    elseif mode == 'fit' then lower(row, tariff, costs)
    elseif not why and mode ~= 'charge' and not has_room(row, tariff, costs) then why = 'r' end
  end
  for r = first, all do
    local row = rows[places[r]]
    if not why then charge(row, places[r], n[tariffs + r], costs)
    elseif row then reanchor(row, places[r], costs) end
  end
  return why
end

-- Refunds a cell. An amount below 0 charges it, regardless of the limits.
-- @param start of the opening that is refunded; below 0 matches any opening
-- @param closes whether the cell is closed when nothing is left
local function give_back(row, place, c, start, amount, closes)
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
