-- Takes back what a process did not use of a lease: once, and never more than was leased.
--
-- KEYS  1       the book of leases, or missing; see grant.lua
--       2..     rows, one a layer
-- ARGV  1       numbers, as JSON: W, tokens, starts of W windows of each row
--       2       the lease's id
-- REPLY tokens that were credited to the windows that are open still since those starts
--
-- Without a record nothing is credited: the lease was returned before, or forgotten.

local CLOSED = -1
local call = redis.call
local numbers = cjson.decode(ARGV[1])
local W, tokens = numbers[1], numbers[2]

local raw = call('MGET', unpack(KEYS))
local book = raw[1] and cmsgpack.unpack(raw[1])
local lease = book and book[2][ARGV[2]]
if not lease then return 0 end
if tokens > lease[1] then tokens = lease[1] end
book[2][ARGV[2]] = nil
-- Gone first: what is not credited is lost, but nothing is credited twice.
call('SET', KEYS[1], cmsgpack.pack(book), 'KEEPTTL')

local at, cells = 2, '<' .. string.rep('I6i7', W)
for l = 2, #KEYS do
  local value, found = raw[l], false
  if value and #value == 1 + 13 * W then
    local list = { struct.unpack(cells, value, 2) }
    for w = 1, W do
      local used = list[2 * w]
      if used ~= CLOSED and list[2 * w - 1] == numbers[at + w] then
        list[2 * w] = used > tokens and used - tokens or 0
        found = true
      end
    end
    if found then call('SET', KEYS[l], struct.pack('<B' .. string.rep('I6i7', W), 1, unpack(list, 1, 2 * W)), 'KEEPTTL') end
  end
  at = at + W
end
return tokens
