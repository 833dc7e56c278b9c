-- Decides a batch of operations, in order, as one atomic step.
--
-- KEYS          as in begin.lua, then rows and records of ids, each key once; an operation names them by their places
-- ARGV  1, 2    as in begin.lua, rows.lua and tariffs.lua
--       3       operations, as characters below 128 each; a place is two, the high and low 7 bits
--                 tariff + FIRST_TARIFF - 1, row..             take; names the rows that the tariff left open
--                 TAKE_ID, the same, record                    take under an id
--                 SETTLE, L, row..                             give tokens back to windows with given starts
--                 SETTLE_ID, L, row.., record                  the same under an id: to the windows that it charged
--                 RESET, L, row..                              close all windows
--                 UNDO, L, row..                               undo a take: give back, and close what it opened in vain
--                 UNDO_ID, L, row.., record                    the same under an id, which is forgotten
--                 LOOK, L, row..                               show rows
--               where L, the number of rows, is two characters as well
--       4..     what operations need besides, in their order
--                 TAKE_ID: nonce, fingerprint, ttl (ms)
--                 SETTLE: L x W starts, tokens
--                 SETTLE_ID: 'C' (committed) or 'X' (cancelled), nonce, fingerprint, ttl (ms), tokens
--                 UNDO: L x W starts, tokens, when it was taken (epoch ms)
--                 UNDO_ID: nonce, then as UNDO
-- REPLY { now, one letter an operation, stored states of letters m in turn, what KEYS held before from the first row on,
--         the settings' revision if it was looked at }
--       a admitted  r refused  m admitted earlier, by the same nonce  d duplicate  x cancelled  c conflict  s stale
--       y done  n not this nonce's to settle  b a row or record cannot be read, nothing was done
--
-- Three phases: every key is read once, all is decided in memory, every changed key is written once.

local letters, n, last, settle_any = {}, 0, #codes, nil
while read < last do
  read = read + 1
  local operation = codes[read]
  local letter
  if operation >= FIRST_TARIFF then
    local tariff = tariffs[operation - FIRST_TARIFF + 1]
    read_own(tariff)
    letter = take(tariff)
  elseif operation == TAKE_ID then
    read = read + 1
    local tariff = tariffs[codes[read] - FIRST_TARIFF + 1]
    read_own(tariff)
    letter = ids().take(tariff)
  else
    settle_any = settle_any or make_settle()
    letter = settle_any(operation)
  end
  n = n + 1
  letters[n] = letter
end
for place in pairs(hot) do cool(place) end
