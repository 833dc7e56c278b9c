-- A script as it is called over HTTP. JSON cannot contain bytes, so they arrive as text. Each reply contains its call's tag.
--
-- KEYS   the script's keys, then the key of the last change
-- ARGV   the script's arguments, with bytes marked (see ../rest-redis.ts), then a tag
-- REPLY  { the tag, the last change, the script's reply }

local function carried_out(KEYS, ARGV) -- luacheck: ignore 212
  --- @include "./script"
end

local INFINITIES = { ['Infinity'] = math.huge, ['-Infinity'] = -math.huge }
for i = 1, #ARGV do
  local mark, text = string.sub(ARGV[i], 1, 2), string.sub(ARGV[i], 3)
  if mark == '\127n' then
    local numbers = {}
    for number in string.gmatch(text, '[^ ]+') do numbers[#numbers + 1] = INFINITIES[number] or tonumber(number) end
    ARGV[i] = struct.pack('<' .. string.rep('d', #numbers), unpack(numbers))
  elseif mark == '\127b' then
    -- Each byte arrived as a character: two bytes of UTF-8 become one again.
    ARGV[i] = string.gsub(text, '([\194\195])(.)', function(first, second)
      return first == '\194' and second or string.char(string.byte(second) + 64)
    end)
  end
end
local tag = table.remove(ARGV)
local reply = carried_out(KEYS, ARGV)
return { tag, redis.call('GET', KEYS[#KEYS]), reply }
