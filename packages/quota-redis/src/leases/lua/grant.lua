-- Charges requests on the rows that all subjects share, in order, and leases amounts of each unit to the process that asks.
--
-- KEYS  as of a batch of the counters, and last the book
-- ARGV  as of a batch: its one operation charges nothing in the shared rows, and is filled in here
--       4    JSON: `process`; `lease`, its id; `units`, their names; `may_open`, whether windows may be opened; `costs` of each
--            request; `wanted` beyond these at most; `has`, the rest in the leases of this process; and in ms `keep`, how long a
--            lease is remembered, `counted`, how long a process is counted after it last asked, `usable`, how long a lease is
-- REPLY as of a batch. Statuses, one for each request: a charged  r refused  w fits, but would open a window  s other settings
--       are in force  t the clock is outside of the periods  b a row cannot be read  l as of a batch
--       list: charged and leased in all, then what live leases of others have, each one number a unit
--
-- A lease is granted whole or not at all. No request opens a window unless it may, and one without costs (a refresh) never does.

--- @include "book"
local group, costs = n[at + 3], at + 3
local shared = n[group + SHARED]

-- Which leases and processes still count, how many processes share, and what live leases of others have.
local live, leased = 1, in_units()
do
  local process, kept = call_of.process, {}
  for name, asked in pairs(seen) do
    if now - asked >= call_of.counted then seen[name] = nil elseif name ~= process then live = live + 1 end
  end
  seen[process] = now
  for id, lease in pairs(leases) do
    local age = now - lease[2]
    if age < call_of.keep then kept[id] = lease end
    if age < call_of.usable and sub(id, 1, #process) ~= process then
      for u, amount in ipairs(in_units(lease[1])) do leased[u] = leased[u] + amount end
    end
  end
  leases = kept
end

local function fill_in(amounts)
  for u = 1, #names do n[costs + u] = amounts[u] end
end

-- Each shared row, its place and its tariff; nothing where one cannot be read.
local function shared_rows()
  local all = {}
  for r = 1, shared do
    local place = n[group + BEHIND_GROUP + shared + r]
    local row = row_at(place)
    if not row then return nil end
    all[r] = { row, place, n[group + BEHIND_GROUP + r] }
  end
  return all
end

local function has_closed(all)
  for _, each in ipairs(all) do
    local row, tariff = each[1], each[3]
    for c = 1, size do
      local is_closed = row[c] < 0 or row[size + c] < n[tariff + size + c]
      if is_closed and n[kind_of + c] ~= SLOTS then return true end
    end
  end
  return false
end

-- What all rows have room for, of each unit.
local function room_of(all)
  local room = {}
  for u = 1, units do n[costs + u] = MAX_USED end
  for _, each in ipairs(all) do lower(each[1], each[3], costs) end
  for u = 1, #names do room[u] = n[costs + u] end
  for u = 1, units do n[costs + u] = 0 end
  return room
end

-- Statuses of requests in order; what they charge, and the most that one of them costs.
local function decide(room, may_open)
  local charged, most, refused = in_units(), {}, false
  for u = 1, #names do most[u] = 1 end
  for i, request in ipairs(call_of.costs) do
    local fits = true
    for u, cost in ipairs(request) do
      fits, most[u] = fits and (cost == 0 or cost <= room[u]), max(most[u], cost)
    end
    statuses[i], refused = fits and (may_open and 'a' or 'w') or 'r', refused or not fits
    for u, cost in ipairs(statuses[i] == 'a' and request or {}) do
      room[u], charged[u] = room[u] - cost, charged[u] + cost
    end
  end
  return charged, most, refused
end

-- What is leased beyond the costs. Nothing where any unit is near its limit, since others would miss what idle leases have; or
-- where there is none of a unit that is wanted.
local function lease_of(full, room, charged, most)
  local extra, wanted, has = {}, call_of.wanted, call_of.has
  for u, left in ipairs(full) do
    if left < 100 * live * most[u] then return in_units() end
    -- A share of the rest, the process's own leases included: repeated requests do not collect all of it.
    local share = min(math.ceil((left + has[u]) / (2 * live)) - has[u], wanted[u] + charged[u])
    extra[u] = max(0, min(share - charged[u], room[u]))
    if wanted[u] > 0 and extra[u] == 0 then return in_units() end
  end
  return extra
end

statuses = {}
local amounts, all = in_units(), nil
local why = n[group + IS_STALE]
if not why then
  all = shared_rows()
  why = is_stopped and 'l' or not all and 'b'
end
done = why and max(1, #call_of.costs) or #call_of.costs
for i = 1, why and done or 0 do statuses[i] = why end
if not why then
  for u = 1, #names do n[costs + u] = 1 end
  for _, each in ipairs(all) do reanchor(each[1], each[2], costs) end
  local any_closed, full, room = has_closed(all), room_of(all), room_of(all)
  local charged, most, refused = decide(room, call_of.may_open or not any_closed)
  local is_charged, is_anything, extra = false, false, in_units()
  for u = 1, #names do is_charged = is_charged or charged[u] > 0 end
  if not refused and (not any_closed or is_charged) then extra = lease_of(full, room, charged, most) end
  for u = 1, #names do
    amounts[u] = charged[u] + extra[u]
    is_anything = is_anything or amounts[u] > 0
  end
  if is_anything then
    fill_in(amounts)
    for _, each in ipairs(all) do charge(each[1], each[2], each[3], costs) end
    local by_name = {}
    for u, name in ipairs(names) do by_name[name] = amounts[u] > 0 and amounts[u] or nil end
    leases[call_of.lease] = { by_name, now }
    keep_book(call_of.keep)
  end
end
answer_amounts(amounts, leased)

--- @include "../../counters/lua/finish"
