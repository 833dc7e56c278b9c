-- Prepares tariffs and groups for this instant and this revision of the settings.

unit_of, kind_of, length_of = BEGIN, BEGIN + n[CELLS], BEGIN + 2 * n[CELLS]
local at = BEGIN + 3 * n[CELLS]
for _ = 1, n[TARIFFS] do
  local tariff = at + 1
  n[tariff] = false
  for c = 1, size do
    local since, opens, next_end, kind = tariff + size + c, tariff + 2 * size + c, tariff + 3 * size + c, n[kind_of + c]
    if kind == CALENDAR then
      local start, ends = n[since], n[opens]
      if now >= ends then start, ends = ends, n[next_end] end
      -- The clock is outside both periods.
      if now < start or now >= ends then n[tariff] = true end
      n[since], n[opens] = start, start
    else
      n[since] = kind == SLOTS and 0 or now - n[length_of + c] + 1
      -- A bucket that never refills works like a rolling window.
      if kind ~= BUCKET or n[opens] == 0 then n[opens], kind = now, nil end
    end
    n[next_end] = n[tariff + c]
    if kind == BUCKET then n[tariff + c] = -1 elseif n[tariff + c] > MAX_USED then n[tariff + c] = MAX_USED end
  end
  at = at + 1 + 4 * size
end

local revision
--- @include "../../lua/revision"
for _ = 1, n[TERMS] do
  local group = at + 1
  local expected, rows = n[group + REVISION], n[group + SHARED] + n[group + OWN]
  n[group + IS_STALE] = false
  for r = 1, rows do
    if n[n[group + BEHIND_GROUP + r]] then n[group + IS_STALE] = 't' end
  end
  if expected > 0 then
    revision = revision or revision_of(call('GETRANGE', KEYS[1], '0', '21'))
    if revision ~= ARGV[expected] then n[group + IS_STALE] = 's' end
  end
  at = group + BEHIND_GROUP + rows + n[group + SHARED]
end
