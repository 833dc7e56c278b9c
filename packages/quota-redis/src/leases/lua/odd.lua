-- Helpers of unusual batches: built when the first one arrives.

-- How long rows are kept from now on (ms; 0: as before) that are written as a whole, by place; the same of records.
batch.kept, batch.record_ttls = {}, {}
-- Lists that have to be stored, by their hashes; what operations answer beside their letter, in turn.
batch.needed, batch.answers = {}, {}

-- All other operations, made when the first comes.
local rare
local function rare_of()
  rare = rare or make_rare()
  return rare
end

return {
  fold = fold, room_of = room_of, spend = spend, stale_of = stale_of, own_row = own_row, shared_refusal = shared_refusal,
  keep_take = keep_take, store_lists = store_lists, whole_row = whole_row, set_for = set_for, write_others = write_others,
  other = function(...) return rare_of().other(batch, ...) end,
  known_take = function(...) return rare_of().known_take(batch, ...) end,
}
