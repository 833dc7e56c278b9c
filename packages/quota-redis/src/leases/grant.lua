-- Leases: decides requests on the rows that everybody shares, in order, and leases amounts of each unit to the process that
-- asks; and takes back what it did not use.
--
-- NUMBERS       T terms without own rows, book its key among the others, amounts one a unit
--                 GRANT, T, book, whether windows may be opened (1 or 0), most wanted beyond the costs, the rest in the
--                   leases of this process, how long a lease is remembered, how long a process is counted after it last asked,
--                   how long a lease can be used (ms), how many requests, their costs
--                 RETURN, R, book, amounts, starts of the windows of R
-- ARGV          GRANT reads: the process, the lease's id; RETURN: the lease's id
-- REPLY         GRANT answers one letter a request, and facts, a JSON array: charged and leased in all, and what live leases of
--               others have, each one number a unit. a charged  r refused  w fits, but would open a window  s other settings
--               are in force  t the clock is outside of the periods  b a row cannot be read
--               RETURN answers facts: what was credited of each unit to the windows that are open still since those starts
--
-- Book, by cmsgpack: { by process: when it last asked, by lease: { amounts by the names of units, when } }, times in epoch ms.
-- A lease is granted whole or not at all. No request opens a window unless it may, and one without costs (a refresh) never does.

local function book_of(batch, place)
  local value = batch.books and batch.books[place] or call('GET', key_of_other(batch, place))
  return value and cmsgpack.unpack(value) or { {}, {} }
end

local function write_books(batch)
  for place, value in pairs(batch.books) do
    local ttl = batch.book_ttls[place]
    if ttl then call('SET', key_of_other(batch, place), value, 'PX', ttl)
    else call('SET', key_of_other(batch, place), value, 'KEEPTTL') end
  end
end

local function keep_book(batch, place, book, ttl)
  if not batch.books then
    batch.books, batch.book_ttls = {}, {}
    write_late(batch, write_books)
  end
  batch.books[place], batch.book_ttls[place] = cmsgpack.pack(book), ttl
end

-- The processes and leases of a book that still count, how many processes share, and what leases of others have.
local function living(batch, book, process, keep, counted, usable)
  local processes, leases, leased, live = { [process] = now }, {}, in_units(), 1
  for name, seen in pairs(book[1]) do
    if now - seen < counted and name ~= process then processes[name], live = seen, live + 1 end
  end
  for id, lease in pairs(book[2]) do
    if now - lease[2] < keep then
      leases[id] = lease
      if now - lease[2] < usable and string.sub(id, 1, #process) ~= process then
        for u, amount in ipairs(in_units(lease[1])) do leased[u] = leased[u] + amount end
      end
    end
  end
  return { processes, leases }, live, leased
end

-- The amount leased beyond the costs, of each unit: nothing where any of them is near its limit, since what idle leases
-- have would be missed by others; or where there is none of a unit that is wanted.
local function lease_of(full, room, charged, most, has, wanted, live)
  local extra, nothing = {}, in_units()
  for u, left in ipairs(full) do
    if left < 100 * live * most[u] then return nothing end
    -- A share of the rest, the process's own leases included: repeated requests do not collect all of it.
    local share = math.min(math.ceil((left + has[u]) / (2 * live)) - has[u], wanted[u] + charged[u])
    extra[u] = math.max(0, math.min(share - charged[u], room[u]))
    if wanted[u] > 0 and extra[u] == 0 then return nothing end
  end
  return extra
end

local function lease_room(rows)
  local room = in_units()
  for u = 1, UNITS do
    room[u] = MAX_USED
    for _, list in ipairs(rows) do room[u] = math.min(room[u], list[ROOM + u]) end
  end
  return room
end

local function has_closed(rows, kinds)
  for i, list in ipairs(rows) do
    for _, is_open in ipairs(opens_of(list, kinds[i])) do
      if not is_open then return true end
    end
  end
  return false
end

-- Letters of requests in order; what they charge, and the most that one of them costs.
local function decide(all, room, may_open)
  local letters, charged, most, refused = {}, in_units(), {}, false
  for u = 1, UNITS do most[u] = 1 end
  for i, costs in ipairs(all) do
    local fits = true
    for u, cost in ipairs(costs) do
      fits, most[u] = fits and (cost == 0 or cost <= room[u]), math.max(most[u], cost)
    end
    letters[i], refused = fits and (may_open and 'a' or 'w') or 'r', refused or not fits
    for u, cost in ipairs(letters[i] == 'a' and costs or {}) do
      room[u], charged[u] = room[u] - cost, charged[u] + cost
    end
  end
  return letters, charged, most, refused
end

local function grant(batch, read)
  local t, place, may_open = read.number(), read.number(), read.number() == 1
  local wanted, has = read.numbers(UNITS), read.numbers(UNITS)
  local keep, counted, usable, all = read.number(), read.number(), read.number(), {}
  for i = 1, read.number() do all[i] = read.numbers(UNITS) end
  local process, id = read.text(), read.text()
  local rows, letter, kinds = rows_of_terms(batch, t, {})
  local book, live, leased = living(batch, book_of(batch, place), process, keep, counted, usable)
  if letter then
    local letters = string.rep(letter, math.max(1, #all))
    return letter, letters, in_units(), leased
  end
  local ones = {}
  for u = 1, UNITS do ones[u] = 1 end
  for _, list in ipairs(rows) do
    if list.is_ahead then reanchor(list, ones) end
  end
  local any_closed, full, room = has_closed(rows, kinds), lease_room(rows), lease_room(rows)
  local letters, charged, most, refused = decide(all, room, may_open or not any_closed)
  local is_charged, amounts, anything = false, in_units(), false
  for u = 1, UNITS do is_charged = is_charged or charged[u] > 0 end
  local extra = amounts
  if not refused and (not any_closed or is_charged) then
    extra = lease_of(full, room, charged, most, has, wanted, live)
  end
  for u = 1, UNITS do
    amounts[u] = charged[u] + extra[u]
    anything = anything or amounts[u] > 0
    for _, list in ipairs(rows) do list[ROOM + u] = list[ROOM + u] - amounts[u] end
  end
  if anything then
    book[2][id] = { named(amounts), now }
    keep_book(batch, place, book, keep)
  end
  return 'y', table.concat(letters), amounts, leased
end

-- Once, and never more than was leased. Without a record nothing is credited: the lease was returned before, or forgotten.
local function give_back_lease(batch, read, places)
  local place, amounts, starts, id = read.number(), read.numbers(UNITS), read.numbers(#places * WINDOWS), read.text()
  local book = book_of(batch, place)
  local lease = book[2][id]
  if not lease then return 'n', in_units() end
  for u, most in ipairs(in_units(lease[1])) do amounts[u] = math.min(amounts[u], most) end
  for l, row in ipairs(places) do
    local list = cells_at(batch, row)
    for w = 1, list and WINDOWS or 0 do refund(list, w, starts[(l - 1) * WINDOWS + w], amounts[UNIT_OF[w]]) end
  end
  book[2][id] = nil
  keep_book(batch, place, book)
  return 'y', amounts
end

more_operations[#more_operations + 1] = function(batch, operations, read)
  operations[GRANT] = function()
    local letter, letters, amounts, leased = grant(batch, read)
    batch.answers[#batch.answers + 1] = letters
    batch.answers[#batch.answers + 1] = facts_of(joined({}, amounts, leased))
    return letter
  end
  operations[RETURN] = function()
    local letter, credited = give_back_lease(batch, read, read.places())
    batch.answers[#batch.answers + 1] = facts_of(credited)
    return letter
  end
end
