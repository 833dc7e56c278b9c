-- How every script ends: what changed is written. Expiry is garbage collection only: a row goes when all its windows are
-- over, and never earlier than it would have gone before.

-- Lists are there before the first row that names them.
local new_lists = {}
for hash, text in pairs(needed) do
  local field = string.format('%08x', hash)
  local stored = call('HGET', KEYS[2], field)
  if stored and stored ~= text then error({ err = 'QUOTALIST another list is stored as ' .. field }) end
  if not stored then
    new_lists[#new_lists + 1] = field
    new_lists[#new_lists + 1] = text
  end
end

local expires = {}
for d = 1, dirt do
  local place = dirty[d]
  if ends[place] then
    local lasts = ends[place] + GRACE_MS - now
    local is_there = raw[place] or shown[place]
    if not is_there or call('PTTL', name_of(place)) < lasts then expires[place] = math.max(1, lasts) end
  end
end

if new_lists[1] then call('HSET', KEYS[2], unpack(new_lists)) end
for d = 1, dirt do
  local place = dirty[d]
  if not ends[place] then
    -- Nothing opened or moved, and the list is the policy's own: what is used is all that changed.
    call('SETRANGE', name_of(place), 5, sub(changed[place], 6, 5 + 7 * W))
  elseif not expires[place] then
    call('SET', name_of(place), changed[place], 'KEEPTTL')
  elseif test_clock then
    call('SET', name_of(place), changed[place], 'PX', expires[place])
  else
    call('SET', name_of(place), changed[place], 'PXAT', now + expires[place])
  end
end
for place, value in pairs(shown) do raw[place] = value end
