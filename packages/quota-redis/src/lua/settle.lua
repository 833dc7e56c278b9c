-- What is no take: the ends of reservations, resets, looks. A function makes it, for each call that needs it, so that
-- plain takes do not pay for it.

local function make_settle()
  local function listed_places()
    local list = {}
    for l = 1, next_place() do list[l] = next_place() end
    return list
  end

  -- A row of which nothing but what is used has changed; one of another list is written whole.
  local function put_used(place, list) put(place, packed(list), list.others and ends_of(list)) end

  -- All of some rows; nothing if one of them cannot be read.
  local function all_of(rows)
    local lists = {}
    for l, place in ipairs(rows) do lists[l] = cells_of(place) or false end
    for l = 1, #rows do
      if not lists[l] then return nil end
    end
    return lists
  end

  local function settle(rows)
    local starts = skipped(#rows * W)
    local tokens, lists = tonumber(arg()), all_of(rows)
    if not lists then return 'b' end
    for l, list in ipairs(lists) do
      local found = false
      for w = 1, V do
        if refund(list, w, tonumber(ARGV[starts + (l - 1) * W + w]), tokens) then found = true end
      end
      if found then put_used(rows[l], list) end
    end
    return 'y'
  end

  local function settle_id(rows)
    local state, place = arg(), next_place()
    local nonce, fingerprint, ttl, tokens = arg(), arg(), tonumber(arg()), tonumber(arg())
    local lists = all_of(rows)
    if not lists then return 'b' end
    local record, letter = ids().settle(place, state, nonce, fingerprint, ttl)
    if not record then return letter end
    for l, list in ipairs(lists) do
      if tokens ~= 0 and ids().refund(record, list, rows[l], tokens) then put_used(rows[l], list) end
    end
    ids().write(place, { state, nonce, fingerprint, record[4], 0, record[6], record[7] }, ttl)
    return 'y'
  end

  -- As if the take had never been: windows that it opened and that nobody else used are closed.
  local function undo(rows, place)
    local nonce = place and arg()
    local starts = skipped(#rows * W)
    local tokens, taken, lists = tonumber(arg()), tonumber(arg()), all_of(rows)
    if not lists then return 'b' end
    if place then
      local mine = ids().forget(place, nonce)
      if not mine then return mine == nil and 'b' or 'n' end
    end
    for l, list in ipairs(lists) do
      local found = false
      for w = 1, V do
        local used, start = list[w], list[W + w]
        if used ~= CLOSED and start == tonumber(ARGV[starts + (l - 1) * W + w]) then
          local left = less(used, tokens)
          list[w], found = left == 0 and start >= taken and CLOSED or left, true
        end
      end
      if found then put_used(rows[l], list) end
    end
    return 'y'
  end

  -- Closes the windows of the policy's own limits; slots stay taken. A row that cannot be read is mended.
  local function close(place)
    local list, found = cells_of(place), false
    if not list then
      list, found = { is_new = true }, true
      for w = 1, W do list[w], list[W + w] = CLOSED, now end
      return put(place, packed(list), ends_of(list))
    end
    for w = 1, V do
      if list[w] ~= CLOSED then list[w], found = CLOSED, true end
    end
    if found then put_used(place, list) end
  end

  return function(operation)
    local rows = listed_places()
    if operation == SETTLE then return settle(rows) end
    if operation == SETTLE_ID then return settle_id(rows) end
    if operation == UNDO then return undo(rows) end
    if operation == UNDO_ID then return undo(rows, next_place()) end
    if operation == LOOK then return all_of(rows) and 'y' or 'b' end
    for _, place in ipairs(rows) do close(place) end
    return 'y'
  end
end
