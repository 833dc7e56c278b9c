-- Decides a batch of operations, in order, as one atomic step.
--
-- KEYS          as in begin.lua, then rows and records of ids, each key once; an operation names them by their places
-- ARGV  1, 2    as in begin.lua, rows.lua and tariffs.lua; of plain takes of one tariff as in plan.lua
--       3       operations, as characters below 128 each; a place is two, the high and low 7 bits; before plain takes of one
--               tariff PLAIN. All of it is missing where they have the rows behind the shared ones, in turn
--                 tariff + FIRST_TARIFF - 1, row..             take; names the rows that the tariff left open
--                 TAKE_ID, the same, record                    take under an id
--                 SETTLE, L, row..                             give tokens back to windows with given starts
--                 SETTLE_ID, L, row.., record                  the same under an id: to the windows that it charged
--                 RESET, L, row..                              close all windows
--                 UNDO, L, row..                               undo a take: give back, and close what it opened in vain
--                 UNDO_ID, L, row.., record                    the same under an id, which is forgotten
--                 LOOK, L, row..                               show rows
--               and where there are holds, T being a tariff as of TAKE_ID, H being L, row.., record, index of all holds by
--               end, that of its owner
--                 TAKE_HOLD, T, H                              take under an id, for a time
--                 EXTEND, H                                    move the end
--                 GROW, T, H                                   charge more
--                 SETTLE_HOLD, T, H                            end it, and charge what an actual cost has above it
--                 SWEEP, H                                     end it if its time has come
--                 SHOW, H                                      tell what it has
--                 UNDO_HOLD, H                                 undo a take of a hold, or a growth
--               where L, the number of rows, is two characters as well
--       4..     what operations need besides, in their order
--                 TAKE_ID: nonce, fingerprint, ttl (ms); of plain takes as in usual.lua
--                 SETTLE: L x W starts, tokens
--                 SETTLE_ID: 'C' (committed) or 'X' (cancelled), nonce, fingerprint, ttl (ms), tokens
--                 UNDO: L x W starts, tokens, when it was taken (epoch ms)
--                 UNDO_ID: nonce, then as UNDO
--                 TAKE_HOLD: as TAKE_ID, how long it lasts (ms), slots a row, most open holds, category, owner, S
--                 EXTEND: nonce, how long from now on (ms)
--                 GROW: nonce, 8 characters that are this growth's own, S
--                 UNDO_HOLD: nonce, the growth's characters (empty: the take), tokens, when it was charged (epoch ms)
--                 SETTLE_HOLD: 'C' or 'X', nonce, fingerprint, ttl (ms), actual tokens (empty: those of the hold), 'refuse',
--                   'charge' or 'fit', most tokens beyond the hold
--               where S is what was charged in rows of another slot: a mark of the take or growth (empty: nothing more
--               follows), which rows (text; empty: that is yet to be said), tokens, how many starts, starts of windows
-- REPLY where usual.lua decided, as it says; else { now, one letter an operation, stored states of letters m in turn, what
--         KEYS held before from the first row on, the settings' revision if it was looked at }
--       a admitted  r refused  m admitted earlier, by the same nonce  d duplicate  x cancelled  c conflict  s stale
--       t the clock is outside of the periods  y done  n not this nonce's to settle
--       b a row or record cannot be read, nothing was done
--       e the hold has ended  h too many holds  z settled before  v above what the hold has  k more rows have to be named
--
-- Three phases: every key is read once, all is decided in memory, every changed key is written once.

local letters, n, last, settle_any = {}, 0, #codes, nil
--#if holds
local hold_any
--#end
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
  --#if holds
  elseif operation >= TAKE_HOLD then
    hold_any = hold_any or make_holds()
    letter = hold_any(operation)
  --#end
  else
    settle_any = settle_any or make_settle()
    letter = settle_any(operation)
  end
  n = n + 1
  letters[n] = letter
end
for place in pairs(hot) do cool(place) end
