-- What a hold has in rows of another slot, where a script cannot charge them: the process that takes the hold charges them, says
-- so with the take, and the one that ends it gets what goes back, once. In a record that is { mark of the take, for each kind of
-- rows: what they are (text), their cells in turn (start and amount, 6 and 7 bytes) }. Afterwards the mark is left, which says
-- which take's charge the record had.

-- What an operation says of it; nothing where it says none. Reads the mark and which rows (texts; of an empty mark no more is
-- read), then how many cells, start and amount of each (numbers).
local function next_shared(read)
  local mark = read.text()
  if mark == '' then return nil end
  local shared = { mark = mark, of = read.text(), cells = {} }
  for i = 1, read.number() do shared.cells[i] = { read.number(), read.number() } end
  return shared
end

-- Notes what was charged in another slot; nothing yet where `of` is empty. As of rows here, of two openings the newer one counts.
local function add_shared(hold, charge)
  local shared = hold.shared or { charge.mark }
  hold.shared = shared
  local at = #shared + 1
  for i = 2, #shared, 2 do
    if shared[i] == charge.of then at = i end
  end
  if charge.of == '' then return end
  local cells = {}
  for w, cell in ipairs(charge.cells) do
    local start, amount = cell[1], cell[2]
    if shared[at + 1] then
      local opened, had = struct.unpack('<I6i7', shared[at + 1], 13 * w - 12)
      if opened == start then amount = amount + had elseif opened > start or amount == 0 then start, amount = opened, had end
    end
    cells[w] = struct.pack('<I6i7', start, amount)
  end
  shared[at], shared[at + 1] = charge.of, table.concat(cells)
end

-- What goes back in another slot: { how many units, each with its amount, of each kind of rows: what they are, how many cells,
-- start and amount of each }; nothing where that is nothing.
local function freed_of(hold, back)
  local freed, units = { 0 }, 0
  for unit, amount in pairs(hold.costs) do
    if back then amount = back[unit] or 0 end
    if unit ~= 'slots' and amount > 0 then
      units, freed[#freed + 1] = units + 1, unit
      freed[#freed + 1] = amount
    end
  end
  if units == 0 then return nil end
  freed[1] = units
  for i = 2, #hold.shared, 2 do
    freed[#freed + 1] = hold.shared[i]
    freed[#freed + 1] = #hold.shared[i + 1] / 13
    for at = 1, #hold.shared[i + 1], 13 do
      freed[#freed + 1], freed[#freed + 2] = struct.unpack('<I6i7', hold.shared[i + 1], at)
    end
  end
  return freed
end
