-- Charges requests to the shared rows, in order, and leases amounts of each unit to the calling process.
--
-- KEYS  as for a batch of the counters, then the book
-- ARGV  as for a batch: its one operation charges nothing to the shared rows, and is filled in here
--       2    JSON: `process`; `lease`, its id; `units`, their names; `may_open`, whether windows may be opened; `costs` per
--            request; `wanted`, the most to lease beyond them; `has`, the unspent rest of this process's leases; and in ms:
--            `keep`, how long a lease is remembered; `counted`, how long a process counts after its last request; `usable`,
--            how long a lease may be spent
-- REPLY as for a batch. One status per request: a charged  r refused  w fits, but would open a window  s other settings are in
--       force  t the clock is outside the periods  b a row cannot be read  l as for a batch
--       Then, one number per unit: the total charged and leased, and the amounts in other processes' live leases
--
-- A lease is granted completely or not at all. A request opens a window only if `may_open`; a refresh has no costs and never
-- does.

--- @include "book"
local group, costs = n[at + 3], at + 3
local shared = n[group + SHARED]

-- How many processes share the rows, and the amounts in other processes' live leases.
local live, leased = 1, in_units()
do
  local process, kept = call_of.process, {}
  for name, last_seen in pairs(seen) do
    if now - last_seen >= call_of.counted then seen[name] = nil elseif name ~= process then live = live + 1 end
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

-- The shared rows with their indexes and tariffs; nil if one cannot be read.
local function shared_rows()
  local all = {}
  for r = 1, shared do
    local place, tariff = n[group + BEHIND_GROUP + shared + r], n[group + BEHIND_GROUP + r]
    local row = row_at(place, n[tariff])
    if not row then return nil end
    all[r] = { row, place, tariff }
  end
  return all
end

local function has_closed(all)
  for _, each in ipairs(all) do
    local row, tariff = each[1], each[3]
    local size = n[tariff].size
    for c = 1, size do
      if row[c] < 0 or row[size + c] < n[tariff + 2 * size + c] then return true end
    end
  end
  return false
end

-- The amount of each unit that fits in all rows.
local function room_of(all)
  local room = {}
  for u = 1, units do n[costs + u] = MAX_USED end
  for _, each in ipairs(all) do lower(each[1], each[3], costs) end
  for u = 1, #names do room[u] = n[costs + u] end
  for u = 1, units do n[costs + u] = 0 end
  return room
end

-- The requests' statuses in order, their total charge, and the highest cost of one.
local function decide(room, may_open)
  local charged, most, refused = in_units(), {}, false
  for u = 1, #names do most[u] = 1 end
  for i, request in ipairs(call_of.costs) do
    local fits = true
    for u, cost in ipairs(request) do
      fits, most[u] = fits and cost <= room[u], max(most[u], cost)
    end
    statuses[i], refused = fits and (may_open and 'a' or 'w') or 'r', refused or not fits
    for u, cost in ipairs(statuses[i] == 'a' and request or {}) do
      room[u], charged[u] = room[u] - cost, charged[u] + cost
    end
  end
  return charged, most, refused
end

-- The amounts leased beyond the costs. Nothing if any unit is near its limit, since other processes would miss the idle tokens,
-- or if nothing is left of a wanted unit.
local function lease_of(full, charged, most)
  local extra, wanted, has = {}, call_of.wanted, call_of.has
  for u, left in ipairs(full) do
    if left < 100 * live * most[u] then return in_units() end
    -- A share of the rest, this process's leases included, so that repeated requests don't collect everything.
    local share = min(math.ceil((left + has[u]) / (2 * live)) - has[u], wanted[u] + charged[u])
    extra[u] = max(0, share - charged[u])
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
  for _, each in ipairs(all) do reanchor(each[1], each[2], each[3], costs) end
  local any_closed, full, room = has_closed(all), room_of(all), room_of(all)
  local charged, most, refused = decide(room, call_of.may_open or not any_closed)
  local is_charged, is_anything, extra = false, false, in_units()
  for u = 1, #names do is_charged = is_charged or charged[u] > 0 end
  if not refused and (not any_closed or is_charged) then extra = lease_of(full, charged, most) end
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
