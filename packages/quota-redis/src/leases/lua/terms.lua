-- Terms: what takes have in common, said once in a batch. Kinds: limits and periods that rows have in common.
--
-- NUMBERS       of each kind: SIZE limits (infinite: unlimited), and of each calendar window the start of a period, its end and
--               the end of the next (epoch ms)
--               of each of the terms: the revision of the settings that they follow (which of ARGV; 0: they follow none), how
--               many rows that everybody shares, how many of the subject's own; kind of each row, shared ones first; place of
--               each shared row. Operations name terms by where they stand, from 1
--
-- A kind is how many of the numbers stand before it. A cell is open if it started at SINCE or later, and one that opens starts at
-- OPENS: kinds of limits differ in these alone. Both are written out by batch-script.ts, in terms of `kind`.

-- Whether the clock is in neither of two periods of some kind; those then end below 0.
local is_outside = false
@c{for kind = LENGTHS + WINDOWS, n[TERMS] - 1, KIND_NUMBERS do
  if now >= ENDS_$ then SINCE_$, ENDS_$ = ENDS_$, NEXT_END_$ end
  if now < SINCE_$ or now >= ENDS_$ then ENDS_$, is_outside = -1, true end
end|
}
