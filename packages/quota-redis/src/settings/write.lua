-- Writes or removes one document if its version is the one expected, and tells those who watch.
-- KEYS[1] the document  KEYS[2] its version  KEYS[3] the counter of changes, also the channel's name
-- ARGV[1] the version expected, or '' for any; 0: nothing is stored
-- ARGV[2] the document as JSON, or '' to remove it
-- ARGV[3] the change as JSON
-- Reply: { 1, the version now stored } when written, { 0, the version now stored } when not; 0: nothing is stored.

local last = tonumber(redis.call('GET', KEYS[2]) or 0)
local stored = 0
if redis.call('EXISTS', KEYS[1]) == 1 then stored = last end
if ARGV[1] ~= '' and tonumber(ARGV[1]) ~= stored then return { 0, stored } end

-- The first write is a SET: a server that is out of memory refuses the script whole.
redis.call('SET', KEYS[2], string.format('%d', last + 1))
if ARGV[2] == '' then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], ARGV[2])
end
local change = redis.call('INCR', KEYS[3])
redis.call('PUBLISH', KEYS[3], string.format('%d ', change) .. ARGV[3])
if ARGV[2] == '' then return { 1, 0 } end
return { 1, last + 1 }
