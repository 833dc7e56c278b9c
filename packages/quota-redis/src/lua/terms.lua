-- Terms: what takes have in common, said once in a batch. Kinds: limits and periods that rows have in common.
--
-- NUMBERS       of each kind: SIZE limits (infinite: unlimited), and of each calendar window the start of a period, its end and
--               the end of the next (epoch ms)
--               of each of the terms: the revision of the settings that they follow (which of ARGV; 0: they follow none), how
--               many rows that everybody shares, how many of the subject's own; place and kind of each shared row; kind of
--               each own row
--
-- A kind in memory is { limit of each cell, since of each, start of each that opens now, limit of each but no more than MAX_USED
-- }: a cell is open if it started at `since` or later. Kinds of limits differ in that number alone.

local FIRST_KIND = LENGTHS + WINDOWS
local CALENDARS = { @c{$|, } }

local function kind_at(batch, k)
  local known = batch.kinds and batch.kinds[k]
  if known then return known end
  local n, at, kind, now = batch.n, FIRST_KIND + (k - 1) * (SIZE + 3 * #CALENDARS), { unpack(UNIT_OF) }, batch.now
  for c = 1, SIZE do kind[c], kind[SIZE + c], kind[2 * SIZE + c] = n[at + c], -math.huge, now end
  for c = 1, SIZE do kind[3 * SIZE + c] = math.min(n[at + c], MAX_USED) end
  for c = 1, WINDOWS do kind[SIZE + c] = now - n[LENGTHS + c] + 1 end
  at = at + SIZE
  for i, c in ipairs(CALENDARS) do
    local since, ends, next_end = n[at + 3 * i - 2], n[at + 3 * i - 1], n[at + 3 * i]
    if now >= ends then since, ends = ends, next_end end
    -- The clock is in neither of two periods.
    if now < since or now >= ends then kind.is_stale = true end
    kind[SIZE + c], kind[2 * SIZE + c] = since, since
  end
  batch.kinds = batch.kinds or {}
  batch.kinds[k] = kind
  return kind
end

-- The revision of the settings in force; empty where there are none.
local function revision_in_force(batch)
  batch.revision = batch.revision or revision_of(call('GETRANGE', KEYS[1], 0, REVISION_BYTES - 1))
  return batch.revision
end

-- Where each of the terms begins among the numbers.
local function places_of_terms(n)
  local places, at = {}, FIRST_KIND + n[KINDS] * (SIZE + 3 * #CALENDARS)
  for t = 1, n[TERMS] do
    places[t] = at
    at = at + 3 + 2 * n[at + 2] + n[at + 3]
  end
  return places, at
end

local function terms_at(batch, at)
  local n = batch.n
  local revision, shared, own = n[at + 1], n[at + 2], n[at + 3]
  local terms = { places = {}, kinds = {}, own = {}, rows = {}, count = shared }
  at = at + 3
  for i = 1, shared do terms.places[i], terms.kinds[i], at = n[at + 1], kind_at(batch, n[at + 2]), at + 2 end
  for i = 1, own do terms.own[i] = kind_at(batch, n[at + i]) end
  for i = 1, math.max(shared, own) do
    if (terms.kinds[i] or terms.own[i]).is_stale or (terms.own[i] or terms.kinds[i]).is_stale then terms.stale = 't' end
  end
  if revision > 0 and ARGV[revision] ~= revision_in_force(batch) then terms.stale = 's' end
  return terms
end

-- Terms as operations use them: the rows that everybody shares are counted under them.
local function use_terms(batch, t)
  local terms = batch.terms[t]
  if type(terms) == 'number' then
    terms = terms_at(batch, terms)
    batch.terms[t] = terms
  end
  if terms.stale then return terms end
  for i = 1, terms.count do
    local list, kind = row_at(batch, terms.places[i]), terms.kinds[i]
    terms.rows[i] = list.kind == kind and list or count(batch.now, list, kind)
  end
  return terms
end

batch.terms, batch.first_operation = places_of_terms(batch.n)
