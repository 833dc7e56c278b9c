-- Writes the changes. Expiry is only garbage collection: a key expires when all of its cells have ended, and never earlier than
-- it would have before.

-- In whole seconds, which any Lua can write as an integer.
local function set(key, text, lasts) call('SET', key, text, 'EX', string.format('%d', max(1, math.ceil(lasts / 1000)))) end

-- A list is written before the first row that uses it.
local stored_lists = {}
local function store_list(head, text)
  if stored_lists[head] then return end
  local field = string.format('%08x', (unpack_text('<I4', head, 2)))
  local stored = call('HGET', KEYS[2], field)
  if stored and stored ~= text then error({ err = 'QUOTALIST another list is stored as ' .. field }) end
  if not stored then call('HSET', KEYS[2], field, text) end
  stored_lists[head] = true
end

local function store_own_list(own) store_list(own.head, sub(ARGV[own.text], 6)) end

-- Whether a cell of another policy has ended. Slots end when all are released, on any clock.
local function has_ended(own, c, cell)
  if n[own.kind_of + c] == SLOTS then return cell[1] <= 0 end
  return cell[2] + n[own.length_of + c] + GRACE_MS <= now
end

-- A row's text, and when its last cell ends. Rows of layers that the policy lacks keep their list.
local function text_of(row, own)
  local ends, size, is_own = row.kept_until or 0, own.size, own.size > 0
  for c = 1, size do
    local cell_ends = row[size + c] + n[own.length_of + c]
    if cell_ends > ends and n[own.kind_of + c] ~= SLOTS then ends = cell_ends end
  end
  if row.others then
    for c, cell in pairs(row.others) do
      if not has_ended(own, c, cell) then is_own = false end
      if n[own.length_of + c] < math.huge then ends = max(ends, cell[2] + n[own.length_of + c]) end
    end
  end
  if is_own then
    store_own_list(own)
    return own.head .. pack(own.row_format, unpack(row, 1, 2 * size)), ends
  end
  local head, used, starts = pack('<I5', row.list.head), {}, {}
  store_list(head, ARGV[row.list.text])
  for i, c in ipairs(row.list.all_cells) do
    local cell = c > size and (row.others[c] or { CLOSED, 0 }) or { row[c], row[size + c] }
    used[i], starts[i] = pack('<i7', cell[1]), pack('<I6', cell[2])
  end
  return head .. table.concat(used) .. table.concat(starts), ends
end

function made.write_row(row, place, change)
  -- Nothing opened.
  if row.is_new and (change < MOVED or list_of[place].size == 0) then return end
  local key, text, ends = key_of_row(place), text_of(row, list_of[place])
  local lasts = ends + GRACE_MS - now
  if not row.is_new and call('PTTL', key) >= lasts then call('SET', key, text, 'KEEPTTL')
  else set(key, text, lasts) end
end
