-- Prepares tariffs and groups for this instant and this revision of the settings.

-- Tariffs whose periods don't contain this instant.
local outside
for _ = 1, n[TARIFFS] do
  local tariff, list = at + 1, lists[n[at + 1]]
  local size = list.size
  n[tariff] = list
  for c = tariff + 1, tariff + size do
    local limit, since, opens, next_end = n[c + size], c + 2 * size, c + 3 * size, c + 4 * size
    local kind = n[list.kind_of + c - tariff]
    if n[c] > 0 and kind == CALENDAR then
      local start, ends = n[since], n[opens]
      if now >= ends then start, ends = ends, n[next_end] end
      -- The clock is outside both periods.
      if now < start or now >= ends then
        outside = outside or {}
        outside[tariff] = true
      end
      n[since], n[opens] = start, start
    else
      n[since] = kind == SLOTS and 0 or now - n[list.length_of + c - tariff] + 1
      -- A bucket that never refills works like a rolling window.
      if kind ~= BUCKET or n[opens] == 0 then n[opens], kind = now, nil end
    end
    n[next_end] = limit
    if kind == BUCKET then n[c + size] = -1 elseif limit > MAX_USED then n[c + size] = MAX_USED end
  end
  at = at + 1 + 5 * size
end

local revision
--- @include "../../lua/revision"
for _ = 1, n[TERMS] do
  local group = at + 1
  local expected, count = n[group + REVISION], n[group + SHARED] + n[group + OWN]
  n[group + IS_STALE] = false
  for r = 1, outside and count or 0 do
    if outside[n[group + BEHIND_GROUP + r]] then n[group + IS_STALE] = 't' end
  end
  if expected > 0 then
    revision = revision or revision_of(call('GETRANGE', KEYS[1], '0', '21'))
    if revision ~= ARGV[expected] then n[group + IS_STALE] = 's' end
  end
  at = group + BEHIND_GROUP + count + n[group + SHARED]
end
