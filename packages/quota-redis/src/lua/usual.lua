-- The usual batch, spelled out: plain takes of one tariff, all without ids or all under ids that nobody used, on rows of the
-- policy's own list that are there with all windows open, or are a subject's own and not there yet. Nothing is written before
-- it is known that the whole batch is usual; where anything is not, the general part decides it from the beginning.
--
-- KEYS  FIRST_ROW..   rows, and behind them the records of ids, one a take
-- ARGV  3       PLAIN, and what decide.lua says; missing, or nothing behind PLAIN: every take has rows of its own, which stand
--               in the order of the takes behind those that everybody shares
--       5..8    under ids: fingerprint, ttl (ms), the tables of a take's rows, the takes' nonces, all of one length
-- REPLY one text: what the rows held before, now (a double), one letter a take (none: all admitted). A row that was not
--       there is shown as it was opened, with nothing used; or as zeros, where it still is not there

-- What it needs from outside are arguments: a function that has it as upvalues costs as much as a row.
local function usual(numbers, call, pack, unpack_cells, KEYS, ARGV, make_writes)
  local now = numbers[1]
  if now < 0 then
    local time = call('TIME')
    now = time[1] * 1000 + math.floor(time[2] / 1000)
  end
  -- Where the tariff is among the numbers: what it follows, its cost, its layers, their rows, their limits, their spans.
  --#if calendars
  local spans, span = numbers[V + 3], nil
  local at = V + 5 + 3 * CALENDARS * spans
  --#else
  local at = V + 4
  --#end
  if numbers[at] == 1 and call('GETRANGE', KEYS[1], 0, REVISION_BYTES - 1) ~= ARGV[4] then return end
  local cost, layers, rows_at = numbers[at + 1], numbers[at + 2], at + 2
  local limits_at = rows_at + layers

  local own, last = 0, layers
  for l = 1, layers do
    if numbers[rows_at + l] == 0 then own, last = own + 1, l end
  end
  local shared = layers - own

  -- The places of the takes' own rows, one take's behind the other's; nothing where they follow each other.
  local places
  local nonces, rows = ARGV[8], #KEYS - FIRST_ROW + 1
  local takes = (rows - shared) / (nonces and own + 1 or own)
  if ARGV[3] and #ARGV[3] > 1 then
    local codes, each = { string.byte(ARGV[3], 2, -1) }, 1 + 2 * own
    takes, places = #codes / each, {}
    for take = 1, takes do
      for row = 1, own do
        local high = each * (take - 1) + 2 * row
        places[own * (take - 1) + row] = codes[high] * 128 + codes[high + 1]
      end
    end
  end

  if nonces then
    rows = rows - takes
    if call('EXISTS', unpack(KEYS, FIRST_ROW + rows)) > 0 then return end
  end
  local raw = call('MGET', unpack(KEYS, FIRST_ROW, FIRST_ROW - 1 + rows))

  -- What is used is read without its sign: where CLOSED, it is more than any limit.
  local own_head, latest, safe = ROW_VERSION + 256 * numbers[2], now + MAX_AHEAD_MS, MAX_USED - cost * takes
  local @w{since_$|, }
  local @w{begins_$|, }
  @r{since_$, begins_$ = now - numbers[2 + $] + 1, now|
  }
  local @w{limit_$|, }

  -- Rows that were not there, by place: when they end, as SET reads it. Until it is known whether they are charged, `raw`
  -- has them as if they were there, with nothing used.
  local opened, opened_keys, writes

  -- What a take's record is packed of, and how; the records of those that are admitted.
  local record, record_format, nonce_bytes, records
  if nonces then
    nonce_bytes, records = #nonces / takes, {}
    writes = make_writes()
    record, record_format = writes.record_parts(numbers, layers, nonce_bytes, now, ARGV)
  end

  -- What still fits: into the rows that all share, and by place into the takes' own but for those of the last own layer.
  local left, rooms, own_layers, own_before = math.huge, own > 1 and {}, {}, 0
  for nth = 1, layers do
    local l = nth < last and nth or nth < layers and nth + 1 or last
    local from = limits_at + W * (l - 1)
    @w{limit_$ = numbers[from + $]|
    }
    --#if calendars
    if not span or spans > 1 and numbers[limits_at + W * layers + l] ~= span then
      span = spans > 1 and numbers[limits_at + W * layers + l] or 1
      local period, end_of, next_end = V + 1 - 3 * CALENDARS + 3 * CALENDARS * span, nil, nil
      @c{period = period + 3
      since_$, end_of, next_end = numbers[period], numbers[period + 1], numbers[period + 2]
      if now >= end_of then since_$, end_of = end_of, next_end end
      if now < since_$ or now >= end_of then return end
      begins_$ = since_$|
      }
    end
    --#end
    if l ~= last then
      local everybodys = numbers[rows_at + l]
      local first, behind, step = 1, 1, 1
      if everybodys == 0 then
        own_before = own_before + 1
        own_layers[own_before] = l
        first, behind, step = own_before, own * takes, own
      end
      for nth_row = first, behind, step do
        local place = everybodys
        if place == 0 then place = places and places[nth_row] or shared + nth_row end
        local row = raw[place]
        if not row then
          if everybodys > 0 then return end
          if not opened then writes, opened, opened_keys = writes or make_writes(), {}, {} end
          row, opened[place] = writes.opened_row(numbers, pack, own_head, @w{begins_$|, })
          raw[place], opened_keys[#opened_keys + 1] = row, KEYS[place + FIRST_ROW - 1]
        end
        if #row ~= ROW_BYTES then return end
        local head, @{used_$|, }, @{start_$|, } = unpack_cells('<I5@w{I7|}@s{i7|}@{I6|}', row)
        if
          head ~= own_head
          @w{or used_$ > safe or start_$ < since_$ or start_$ > latest|
          }
          @s{or used_$ < CLOSED or used_$ > MAX_USED|
          }
        then
          return
        end
        @w{if everybodys > 0 and limit_$ - used_$ < left then left = limit_$ - used_$ end|
        }
        if record and everybodys > 0 then writes.keep_cells(record, l, unpack_cells, row, 0) end
        if everybodys == 0 then rooms[place] = math.min(@w{limit_$ - used_$|, }) end
      end
    end
  end

  -- `spent`: what is charged to rows that all share; `charged`: to the takes' own but for those of the last own layer.
  local charged, spent, others_fit, charge_others = nil, 0, nil, nil
  if own > 1 then
    charged = {}
    local function place_of(nth_row) return places and places[nth_row] or shared + nth_row end
    function others_fit(take)
      for nth_row = own * take - own + 1, own * take - 1 do
        local other = place_of(nth_row)
        if cost > rooms[other] - (charged[other] or 0) then return false end
      end
      return true
    end
    function charge_others(take)
      for nth_row = own * take - own + 1, own * take - 1 do
        local other = place_of(nth_row)
        charged[other] = (charged[other] or 0) + cost
        if record then
          writes.keep_cells(record, own_layers[nth_row - own * (take - 1)], unpack_cells, raw[other], charged[other])
        end
      end
    end
  end

  -- Takes, in order. `values`: what the windows of changed rows have used, by place. Where a take is refused, there is a letter for each.
  local values, letters, place, opened_now, opened_until = {}, nil, shared, nil, nil
  for everybodys = 1, shared do values[everybodys] = false end
  left, safe = left - cost, MAX_USED - cost
  @w{limit_$ = limit_$ - cost|
  }
  for take = 1, takes do
    local value, head, @{used_$|, }, @{start_$|, }
    if places then
      place = places[own * take] or place
      value = values[place]
    else
      place = place + own
    end
    if value then
      @w{used_$|, } = unpack_cells('<@w{I7|}', value)
      if record then
        -- What is not charged is as it was.
        @s{used_$, |}@{start_$|, } = unpack_cells('<@s{i7|}@{I6|}', raw[place], 6 + 7 * V)
      end
    else
      value = raw[place]
      if not value then
        if not opened then writes, opened, opened_keys = writes or make_writes(), {}, {} end
        if not opened_now then
          opened_now, opened_until = writes.opened_row(numbers, pack, own_head, @w{begins_$|, })
        end
        value, raw[place], opened[place] = opened_now, opened_now, opened_until
        opened_keys[#opened_keys + 1] = KEYS[place + FIRST_ROW - 1]
      end
      if #value ~= ROW_BYTES then return end
      head, @{used_$|, }, @{start_$|, } = unpack_cells('<I5@w{I7|}@s{i7|}@{I6|}', value)
      if
        head ~= own_head
        @w{or start_$ < since_$ or start_$ > latest|
        }
        @s{or used_$ < CLOSED or used_$ > MAX_USED|
        }
      then
        return
      end
    end
    if @w{used_$ <= limit_$| and } and spent <= left and (own < 2 or others_fit(take)) then
      values[place] = pack('<@w{i7|}', @w{used_$ + cost|, })
      spent = spent + cost
      if own > 1 then charge_others(take) end
      if record then
        -- Cells of rows that all share are one charge further each time.
        for l = 1, layers do
          local cell = 3 + 2 * W * (l - 1)
          if l == last then
            @{record[cell + 2 * $ - 1], record[cell + 2 * $] = start_$, used_$|
            }
            @s{if used_$ == CLOSED then record[cell + 2 * $ - 1] = 0 end|
            }
          end
          if l == last or numbers[rows_at + l] > 0 then
            @w{record[cell + 2 * $] = record[cell + 2 * $] + cost|
            }
          end
        end
        record[2] = string.sub(nonces, nonce_bytes * (take - 1) + 1, nonce_bytes * take)
        records[take] = pack(record_format, unpack(record))
      end
    else
      -- Where other rows of a take may refuse it, a row that is not there is refused now and opened later.
      if @w{used_$ > safe| or } or opened and own > 1 then return end
      letters = letters or {}
      letters[take] = 'r'
    end
  end

  for raised = 1, spent == 0 and 0 or own > 1 and #raw or shared do
    local tokens = raised <= shared and spent or charged[raised]
    if tokens and not values[raised] then
      local @w{used_$|, } = unpack_cells('<@w{i7|}', raw[raised], 6)
      values[raised] = pack('<@w{i7|}', @w{used_$ + tokens|, })
    end
  end
  -- MGET has nothing of keys of another type either; and a list is there before the first row or record that names it.
  if opened and call('EXISTS', unpack(opened_keys)) > 0 then return end
  if (opened or nonces) and call('HGET', KEYS[2], string.format('%08x', numbers[2])) ~= ARGV[2] then return end
  if opened then writes.write_opened(opened, values, raw, now, numbers[1] >= 0, call, KEYS) end
  for changed = 1, #raw do
    local value = values[changed]
    if value then call('SETRANGE', KEYS[changed + FIRST_ROW - 1], '5', value) end
  end
  if records then writes.write_records(records, rows, now, numbers[1] >= 0, call, KEYS, ARGV) end
  if letters then
    for take = 1, takes do letters[take] = letters[take] or 'a' end
  end
  raw[#raw + 1] = pack('<d', now)
  return table.concat(raw) .. (letters and table.concat(letters) or '')
end

if is_plain then
  local reply = usual(numbers, call, pack, unpack_cells, KEYS, ARGV, make_writes)
  if reply then return reply end
end
