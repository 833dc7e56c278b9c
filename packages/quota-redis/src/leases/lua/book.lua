-- The beginning of both scripts of leases: rows as in a batch of the counters, and the book of leases.
--
-- The book, by cmsgpack: { by process: its last request, by lease: { amounts by unit name, time } }, times in epoch ms.

--- @include "../../counters/lua/state"
local made = {}
local function rare() return made end
--- @include "../../counters/lua/begin"
--- @include "../../counters/lua/lists"
--- @include "../../counters/lua/unusual-takes"
--- @include "../../counters/lua/writes"

local statuses
local done = 0
local call_of = cjson.decode(ARGV[2])
local names = call_of.units
local book_key = KEYS[#KEYS]
local stored = call('GET', book_key)
local seen, leases = unpack(stored and cmsgpack.unpack(stored) or { {}, {} })

-- Amounts, one per unit.
local function in_units(by_name)
  local amounts = {}
  for u, name in ipairs(names) do amounts[u] = by_name and by_name[name] or 0 end
  return amounts
end

-- Replies with amounts as text, because JSON would round large ones.
local function answer_amounts(...)
  local texts = {}
  for _, amounts in ipairs({ ... }) do
    for _, amount in ipairs(amounts) do texts[#texts + 1] = string.format('%.0f', amount) end
  end
  answer('list', table.concat(texts, ' '))
end

-- @param ttl ms; nil keeps the expiry
local function keep_book(ttl)
  local text = cmsgpack.pack({ seen, leases })
  function made.write_others()
    if ttl then call('SET', book_key, text, 'PX', ttl) else call('SET', book_key, text, 'KEEPTTL') end
  end
end
