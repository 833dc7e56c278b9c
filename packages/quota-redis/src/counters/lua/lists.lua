-- Rows that are missing, or use another list of limits: a policy was changed, or other processes still have another one.
-- Cells of this policy are its counters. Other cells are kept until all of them have ended.
--
-- Per other list the numbers contain: the head of its rows; the head and the argument of the list that also has the policy's
-- own cells; the number of cells in the first list, and the cells; the same for the second.

-- The other lists that a list of the policy knows, by the head of their rows.
local function others_of(own)
  if own.others then return own.others end
  own.others = {}
  local l = own.others_at + 1
  for _ = 1, n[l] do
    local list, count = { head = n[l + 2], text = n[l + 3] }, n[l + 4]
    list.cells = { unpack(n, l + 5, l + 4 + count) }
    own.others[n[l + 1]] = list
    l = l + 5 + count - 1
    list.all_cells = { unpack(n, l + 2, l + 1 + n[l + 1]) }
    l = l + 1 + n[l + 1]
  end
  return own.others
end

local function key_of_row(place) return KEYS[FIRST_ROW - 1 + place] end

local function answer(name, text) answers[#answers + 1], answers[#answers + 2] = name, text end

local function new_row(own)
  own.blank = own.blank or { unpack_text(own.row_format, rep('\255', 7 * own.size) .. rep('\0', 6 * own.size)) }
  return { is_new = true, is_whole = true, unpack(own.blank, 1, 2 * own.size) }
end

local function is_other_version(text, own) return #text > 5 and sub(text, 1, 1) ~= sub(own.head, 1, 1) end

-- A row of another list. False if it is damaged or its list is unknown to the process, which then receives the list and sends
-- again everything that was not carried out.
local function row_of_list(text, own)
  if #text <= 5 or is_other_version(text, own) then return false end
  local list, size = others_of(own)[unpack_text('<I5', text)], own.size
  if not list then
    local stored = redis.pcall('HGET', KEYS[2], string.format('%08x', (unpack_text('<I4', text, 2))))
    if type(stored) == 'string' then
      answer(sub(text, 1, 5), stored)
      is_stopped = true
    end
    return false
  end
  local row, count = new_row(own), #list.cells
  if #text ~= 5 + 13 * count then return false end
  row.others, row.list, row.is_new = {}, list, nil
  for i, c in ipairs(list.cells) do
    local used, start = unpack_text('<i7', text, 7 * i - 1), unpack_text('<I6', text, 7 * count + 6 * i)
    if used < CLOSED or used > MAX_USED then return false end
    if c <= size then row[c], row[size + c] = used, start else row.others[c] = { used, start } end
  end
  return row
end

-- Keys of another type, by index: MGET returns nothing for them, as for missing keys.
local wrong_types
local function is_wrong_type(place)
  if not wrong_types then
    wrong_types = {}
    local places, keys = {}, {}
    for p = 1, n[ROWS] do
      if not raw[p] then places[#places + 1], keys[#keys + 1] = p, key_of_row(p) end
    end
    if call('EXISTS', unpack(keys)) > 0 then
      for i, p in ipairs(places) do wrong_types[p] = call('EXISTS', keys[i]) > 0 end
    end
  end
  return wrong_types[place]
end

-- The answer contains the version byte of a row of another version, and nothing of other rows.
function made.damaged(place, text)
  rows[place], raw[place] = false, false
  answer('row ' .. place, text and is_other_version(text, list_of[place]) and sub(text, 1, 1) or '')
  return false
end

-- Adds a row of another list to the answers. The process parses it itself.
function made.read_other(place, text)
  local row
  if text then row = row_of_list(text, list_of[place])
  elseif not is_wrong_type(place) then row = new_row(list_of[place]) end
  if not row then return made.damaged(place, text) end
  rows[place], raw[place] = row, false
  if text then answer('row ' .. place, text) end
  return row
end
