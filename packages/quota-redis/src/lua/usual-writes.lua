-- What the usual batch needs where rows are opened or ids are used.

-- A row that opens now, with nothing used, and when its last window ends.
local function opened_row(numbers, pack, own_head, @w{begins_$|, })
  return pack('<I5@w{I7|}@s{i7|}@{I6|}', own_head, @w{0|, }@s{, CLOSED|}, @w{begins_$|, }@s{, 0|}),
    math.max(@w{begins_$ + numbers[2 + $]|, })
end

-- Writes rows that were not there and were charged, and takes them out of `values`. Those that were not are shown as zeros.
local function write_opened(opened, values, raw, now, test_clock, call, KEYS)
  for place, ends in pairs(opened) do
    local value, row = values[place], raw[place]
    if value then
      row = string.sub(row, 1, 5) .. value .. string.sub(row, 6 + 7 * V)
      -- A test's clock is not the server's.
      local word, at = 'PXAT', ends + GRACE_MS
      if test_clock then word, at = 'PX', at - now end
      call('SET', KEYS[place + FIRST_ROW - 1], row, word, string.format('%.0f', at))
      values[place] = nil
    else
      raw[place] = string.rep('\0', ROW_BYTES)
    end
  end
end

-- The cells of a row with so many tokens more, as ids.lua keeps them.
local function kept_cells(pack, unpack_cells, row, tokens)
  local @{used_$|, }, @{start_$|, } = unpack_cells('<@{i7|}@{I6|}', row, 6)
  @s{if used_$ == CLOSED then start_$ = 0 end|
  }
  return pack('<@{I6i7|}', @w{start_$, used_$ + tokens|, }@s{, start_$, used_$|})
end

-- Writes the records of admitted takes, as ids.lua has them: put together here of what they have in common and what not.
local function write_records(kept, takes, rows, cell_bytes, numbers, now, call, KEYS, ARGV)
  local fingerprint, ttl, tables, nonces = ARGV[5], ARGV[6], ARGV[7], ARGV[8]
  local function head_of(bytes) return string.sub(cmsgpack.pack(string.rep(' ', bytes)), 1, -1 - bytes) end
  local each, ends = #nonces / takes, now + tonumber(ttl)
  local head = '\151\161R' .. head_of(each)
  local middle = cmsgpack.pack(fingerprint) .. head_of(cell_bytes)
  local behind = cmsgpack.pack(ends, numbers[2], tables)
  local word, at = 'PXAT', string.format('%.0f', ends)
  if numbers[1] >= 0 then word, at = 'PX', ttl end
  for take, cells in pairs(kept) do
    local nonce = string.sub(nonces, each * (take - 1) + 1, each * take)
    call('SET', KEYS[FIRST_ROW - 1 + rows + take], head .. nonce .. middle .. cells .. behind, word, at)
  end
end
