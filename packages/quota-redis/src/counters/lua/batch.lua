-- Carries out a batch of operations in order, as one atomic step.
--
-- KEYS  1    the settings in force, which begin with their revision; or none
--       2    the lists of limits that rows use, a hash
--       3..  rows, then records, then indexes of holds, each key once
-- ARGV  1    numbers (doubles): see numbers.lua
--       2..  texts that the numbers refer to
-- REPLY      the rows before the batch, one after the other, with the policy's lists (a byte 0: no row, or see the answers);
--            now (a double); one status per operation, unless all are admitted takes. With answers:
--            { that, answers in pairs }. Or the time alone: it is too late
--
-- A row is a version byte and the hash of its list of limits (5 bytes together), each cell's used amount (7 bytes each), and
-- each cell's start (6 bytes each, epoch ms). A record is a mark (8 bytes, new at every write), its expiry (6 bytes, epoch ms),
-- and a part that only processes read.
--
-- The script reads every key, decides all operations in memory, and writes every changed key once. A full or read-only server
-- rejects the first write, before anything has changed. Redis creates a script's functions again at each call, so functions
-- that most takes don't need are created by `rare`, on first use.

--- @include "state"

-- Functions that few operations need.
local made
local function rare()
  if made then return made end
  made = {}
  --- @include "constants"
  --- @include "lists"
  --- @include "unusual-takes"
  --- @include "writes"
  function made.make_steps()
    --- @include "steps"
  end
  return made
end

--- @include "begin"

-- Per operation: 'a' (admitted or done), or why not. Nil while all are admitted takes.
local statuses
-- Carries out an operation that consists of steps.
local run
local done = 0
while done < n[OPERATIONS] do
  local length = n[at + 1]
  at = at + 1
  if length ~= RUN then
    done = done + 1
    if not run then run = rare().make_steps() end
    local why = is_stopped and 'l' or run(at, length)
    if why then
      statuses = statuses or {}
      statuses[done] = why
    end
    at = at + length
  else
    -- The shared rows are charged once for the whole run if additions are enough. Takes that are not admitted are refunded.
    local group, count, total = n[at + 1], n[at + 2], at + 2
    local stale, shared, each = n[group + IS_STALE], n[group + SHARED], units + n[group + OWN]
    local tariffs, charged = group + BEHIND_GROUP, 0
    local shared_places, refused = tariffs + shared + n[group + OWN], 0
    while not stale and charged < shared do
      local place = n[shared_places + charged + 1]
      local row = rows[place]
      if row == UNREAD then row = read(place, n[n[tariffs + charged + 1]]) end
      if not (row and add(row, n[tariffs + charged + 1], total)) then break end
      charged = charged + 1
    end
    if charged < shared then
      for r = 1, charged do take_back_all(rows[n[shared_places + r]], n[tariffs + r], total) end
      charged = 0
    end
    at = total + units
    for operation = done + 1, done + count do
      local why = is_stopped and 'l' or stale or take(group, at, charged + 1)
      if why then
        statuses = statuses or {}
        statuses[operation], refused = why, refused + 1
        for r = 1, charged do take_back_all(rows[n[shared_places + r]], n[tariffs + r], at) end
      end
      at = at + each
    end
    for r = 1, refused < count and charged or 0 do
      local place = n[shared_places + r]
      changes[place] = changes[place] + 1
    end
    done = done + count
  end
end

--- @include "finish"
