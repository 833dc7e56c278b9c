local CLOSED, MAX_USED, MAX_AHEAD_MS, GRACE_MS = -1, 9007199254740991, 5000, 60000
-- The index of the first row among the keys.
local FIRST_ROW = 3
-- UNREAD replaces a row that is not read yet. MOVED is added to a row's changes if more than used amounts changed.
local UNREAD, MOVED = 0, 1048576
--- @include "numbers"

local KEYS, ARGV, unpack = KEYS, ARGV, unpack
local call, pack, unpack_text, rep, sub = redis.call, struct.pack, struct.unpack, string.rep, string.sub
