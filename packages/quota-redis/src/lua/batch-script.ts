import begin from './begin.lua'
import holdRecord from './hold-record.lua'
import holdShared from './hold-shared.lua'
import holds from './holds.lua'
import ids from './ids.lua'
import lists from './lists.lua'
import operations from './operations.lua'
import revision from './revision.lua'
import rowChanges from './row-changes.lua'
import rows from './rows.lua'
import { type ScriptOfShape, scriptOf, scriptsByShape } from './script.ts'
import take from './take.lua'
import terms from './terms.lua'
import write from './write.lua'

/** Codes of operations that are no plain takes: negative among the numbers. */
export const CODES = {
  UNDER_ID: 1,
  FREE: 2,
  SETTLE: 3,
  SETTLE_ID: 4,
  RESET: 5,
  UNDO: 6,
  UNDO_ID: 7,
  LOOK: 8,
  TAKE_HOLD: 9,
  EXTEND: 10,
  GROW: 11,
  SETTLE_HOLD: 12,
  SWEEP: 13,
  SHOW: 14,
  UNDO_HOLD: 15,
  GRANT: 16,
  RETURN: 17,
} as const

/** Places among the numbers of a batch. */
const NUMBERS = { NOW: 1, HEAD: 2, ROWS: 3, RECORDS: 4, KINDS: 5, TERMS: 6, FIRST_TEXT: 7, LENGTHS: 7 } as const

/** Which of a script's keys is the first row: settings and lists stand before. */
const FIRST_ROW = 3

/** When the record of an open hold ends, as its six bytes have it: never. */
const NEVER = 2 ** 48 - 1

const constants = {
  ...CODES,
  ...NUMBERS,
  UNDER_ID: -CODES.UNDER_ID,
  FIRST_ROW,
  NEVER,
  // In place of how long a record is kept: for ever, not at all.
  ENDLESS: -1,
  GONE: 0,
  // Growths that a hold's record remembers, to know one that is asked for again.
  MAX_GROWTHS: 16,
}

/**
 * Makes the script that carries out batches.
 *
 * @param more parts that add operations
 */
export function batchScripts(...more: readonly string[]): ScriptOfShape {
  const rare = [rowChanges, ids, operations, holdShared, holdRecord, holds, ...more]
  const makeRare = ['local function make_rare()', ...rare, 'return { other = other, known_take = known_take }', 'end']
  const parts = [revision, begin, rows, lists, terms, take, ...makeRare, write]
  return scriptsByShape((shape) => scriptOf(parts, shape, constants))
}

export const batchScript: ScriptOfShape = batchScripts()
