-- What a hold has in rows of another slot, where a script cannot charge them: whoever takes the hold charges them, says so
-- with the take, and whoever ends it is handed what goes back, once. In a record that is { mark of the take, for each kind of
-- rows: what they are (text), their cells in turn (start and tokens, 6 and 7 bytes) }. Thereafter the mark is left, which
-- tells whose tokens the record had.

local SHARED = 12

-- As an operation tells it; nothing where it tells of none.
local function next_shared()
  local mark = arg()
  if mark == '' then return nil end
  local shared = { mark = mark, of = arg(), tokens = tonumber(arg()), starts = {} }
  for i = 1, tonumber(arg()) do shared.starts[i] = tonumber(arg()) end
  return shared
end

-- Notes what was charged in another slot: { mark, of, tokens, starts }; nothing yet where `of` is empty. As of rows here, of
-- two openings the newer one counts.
local function add_shared(hold, charge)
  local shared = hold[SHARED] or { charge.mark }
  hold[SHARED] = shared
  local at = #shared + 1
  for i = 2, #shared, 2 do
    if shared[i] == charge.of then at = i end
  end
  if charge.of == '' then return end
  local cells = {}
  for w, start in ipairs(charge.starts) do
    local tokens = charge.tokens
    if shared[at + 1] then
      local opened, had = unpack_cells('<I6i7', shared[at + 1], 13 * w - 12)
      if opened == start then tokens = tokens + had elseif opened > start then start, tokens = opened, had end
    end
    cells[w] = pack('<I6i7', start, tokens)
  end
  shared[at], shared[at + 1] = charge.of, table.concat(cells)
end

-- What a hold has in another slot, so many tokens of which go back: { tokens, of each kind of rows: what they are, number of
-- cells, start and tokens of each }.
local function freed_of(hold, tokens)
  local freed, shared = { tokens }, hold[SHARED]
  for i = 2, #shared, 2 do
    freed[#freed + 1] = shared[i]
    freed[#freed + 1] = #shared[i + 1] / 13
    for at = 1, #shared[i + 1], 13 do
      freed[#freed + 1], freed[#freed + 2] = unpack_cells('<I6i7', shared[i + 1], at)
    end
  end
  return freed
end
