-- Adds counts to hashes of half an hour each: all or none.
-- KEYS the hashes
-- ARGV[1] how long a hash is kept after its last change, in milliseconds
-- ARGV[2] and on, in threes: the hash as an index into KEYS, the field, the number to add
-- Reply: nothing.

-- A server without memory rejects this first write, and with it the whole script.
for i = 2, #ARGV, 3 do
  redis.call('HINCRBY', KEYS[tonumber(ARGV[i])], ARGV[i + 1], ARGV[i + 2])
end
for _, key in ipairs(KEYS) do
  redis.call('PEXPIRE', key, ARGV[1])
end
