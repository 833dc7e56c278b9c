-- What the usual batch needs where rows are opened or ids are used. A function makes it, for the batches that need it.

local function make_writes()
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

  -- What a take's record is packed of, as ids.lua has it, and how: what stands before the nonce, the nonce, what follows, start
  -- and used of each cell of each layer in turn, and the end.
  local function record_parts(numbers, layers, nonce_bytes, now, ARGV)
    local function head_of(bytes) return string.sub(cmsgpack.pack(string.rep(' ', bytes)), 1, -1 - bytes) end
    local behind = cmsgpack.pack(now + tonumber(ARGV[6]), numbers[2], ARGV[7])
    local parts = { '\151\161R' .. head_of(nonce_bytes), '', cmsgpack.pack(ARGV[5]) .. head_of(13 * W * layers) }
    for _ = 1, 2 * W * layers do parts[#parts + 1] = 0 end
    parts[#parts + 1] = behind
    return parts, '<c0c0c0' .. string.rep('I6i7', W * layers) .. 'c0'
  end

  -- Puts the cells of a layer's row, with so many tokens more, into what a record is packed of.
  local function keep_cells(record, layer, unpack_cells, row, tokens)
    local cell, @{used_$|, }, @{start_$|, } = 3 + 2 * W * (layer - 1), unpack_cells('<@{i7|}@{I6|}', row, 6)
    @s{if used_$ == CLOSED then start_$ = 0 end|
    }
    @{record[cell + 2 * $ - 1], record[cell + 2 * $] = start_$, used_$|
    }
    @w{record[cell + 2 * $] = record[cell + 2 * $] + tokens|
    }
  end

  -- Writes the records of admitted takes.
  local function write_records(records, rows, now, test_clock, call, KEYS, ARGV)
    local word, at = 'PXAT', string.format('%.0f', now + tonumber(ARGV[6]))
    if test_clock then word, at = 'PX', ARGV[6] end
    for take, record in pairs(records) do call('SET', KEYS[FIRST_ROW - 1 + rows + take], record, word, at) end
  end

  return {
    opened_row = opened_row, write_opened = write_opened,
    record_parts = record_parts, keep_cells = keep_cells, write_records = write_records,
  }
end
