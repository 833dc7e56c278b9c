-- Rows in memory, and takes. A take charges all of its rows or none.
--
-- A row contains each cell's used amount (CLOSED if it is not open), then each cell's start. Few rows also have: `is_new`;
-- `list` and `others`, for a row of another list and its cells that the policy lacks; `is_whole`, if such a row is written
-- completely and not just its used amounts; `kept_until`.

raw = n[ROWS] > 0 and call('MGET', unpack(KEYS, FIRST_ROW, FIRST_ROW - 1 + n[ROWS])) or {}
-- Allocated in one piece: growing a table costs more than filling it.
local zeros = rep('\0', n[ROWS])
rows, changes, list_of = { string.byte(zeros, 1, -1) }, { string.byte(zeros, 1, -1) }, { string.byte(zeros, 1, -1) }
latest = now + MAX_AHEAD_MS

-- Of the list that was used last, as most rows have the same one.
local known_list, row_bytes, head, row_format
function read(place, list)
  local text = raw[place]
  list_of[place] = list
  if list ~= known_list then
    known_list, row_bytes, head, row_format = list, list.row_bytes, list.head, list.row_format
  end
  if not text or #text ~= row_bytes or sub(text, 1, 5) ~= head then return rare().read_other(place, text) end
  local row = { unpack_text(row_format, text, 6) }
  rows[place] = row
  return row
end

-- @param last of the cells
local function take_back(row, tariff, costs, last)
  for c = 1, last do
    local unit = n[tariff + c]
    if unit > 0 then row[c] = row[c] - n[costs + unit] end
  end
end

local function take_back_all(row, tariff, costs) take_back(row, tariff, costs, n[tariff].size) end

-- Charges a row if that only needs an addition: every charged cell is open and usable. Returns false if a cost doesn't fit, and
-- nothing if more than an addition is needed. The row is then unchanged.
local function add(row, tariff, costs)
  local n, latest, list, full = n, latest, n[tariff], nil
  local size = list.size
  local limits, sinces = tariff + size, tariff + 2 * size
  for c = 1, size do
    local unit = n[tariff + c]
    local cost = unit > 0 and n[costs + unit] or 0
    if cost > 0 then
      local before, start = row[c], row[size + c]
      local used = before + cost
      if used > n[limits + c] or start < n[sinces + c] or before < 0 or start > latest or full then
        local limit, is_unusual = n[limits + c], false
        if limit < 0 then
          -- The tokens that a bucket refilled since its start are room.
          local age, rate, per, back = now - start, n[sinces + size + c], n[list.length_of + c] / 2, 0
          if age > 0 and age < per then
            local product = age * rate
            back = product <= MAX_USED and (product - product % per) / per or rare().came_back(age, rate, per)
          end
          limit, is_unusual = n[sinces + 2 * size + c] + back, age >= per or age > 0 and back >= before
        end
        if is_unusual or start < n[sinces + c] or before < 0 or start > latest or used > MAX_USED then
          take_back(row, tariff, costs, (full or c) - 1)
          return nil
        end
        if used > limit or full then full = full or c else row[c] = used end
      else row[c] = used end
    end
  end
  if full then take_back(row, tariff, costs, full - 1) end
  return not full
end

-- Charges a take, or returns why not: 'r' it doesn't fit, 'b' a row cannot be read, 'l' the batch is stopped.
--
-- `costs` is their index, followed by the take's own rows. `first` is the first row that is checked.
function take(group, costs, first)
  local shared, tariffs = n[group + SHARED], group + BEHIND_GROUP
  local all, why = shared + n[group + OWN], nil
  local shared_places, own_places = tariffs + all, costs + units - shared
  -- The last row that was checked, and the rows that are full, which aren't charged.
  local last, full = 0, nil
  for r = first, all do
    local place, tariff = n[(r > shared and own_places or shared_places) + r], n[tariffs + r]
    local row, fits = rows[place], nil
    if row == UNREAD then row = read(place, n[tariff]) end
    if row then fits = add(row, tariff, costs) end
    if fits then changes[place] = changes[place] + 1
    elseif fits == false then
      full = full or {}
      full[r], why = true, 'r'
    else why = 'unusual' break end
    last = r
  end
  if not why then return end
  for r = first, last do
    if not (full and full[r]) then
      local place = n[(r > shared and own_places or shared_places) + r]
      take_back_all(rows[place], n[tariffs + r], costs)
      changes[place] = changes[place] - 1
    end
  end
  if why == 'r' then return 'r' end
  return rare().take(group, costs, first)
end
