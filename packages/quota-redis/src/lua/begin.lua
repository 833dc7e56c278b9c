-- How every script begins: the numbers that it is given, and the time.
--
-- ARGV  1       numbers, as JSON or as plan.lua reads them; one text, since each conversion costs as much as deciding. It
--               begins with: now (epoch ms; below 0: asks TIME), and what rows.lua reads
--       2       the policy's list of limits, as text
-- KEYS  1       the settings in force, beginning with their revision; or missing
--       2       the lists of limits that rows name, a hash
--
-- All scripts read before they write, and the first write is one that a full or read-only server refuses: then nothing
-- at all was done. No shebang: a full server still answers refusals and looks.

--#if plans
local sub, given = string.sub, 0
-- The last of them is where it ended.
if is_plain then numbers[#numbers] = nil end
--#else
local ARGV, KEYS, call, pack, unpack_cells, sub = ARGV, KEYS, redis.call, struct.pack, struct.unpack, string.sub
local numbers, given = cjson.decode(ARGV[1]), 0
--#end
local function number()
  given = given + 1
  return numbers[given]
end

local now = number()
local test_clock = now >= 0
if not test_clock then
  local time = call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

-- The revision of the settings in force; empty where there are none.
local revision
local function stored_revision()
  revision = revision or revision_of(call('GETRANGE', KEYS[1], 0, REVISION_BYTES - 1))
  return revision
end
