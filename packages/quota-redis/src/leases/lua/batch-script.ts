import { PERIOD_NUMBERS } from '@scoregw/quota/store'
import revision from '../../lua/revision.lua'
import begin from './begin.lua'
import holdRecord from './hold-record.lua'
import holdShared from './hold-shared.lua'
import holds from './holds.lua'
import ids from './ids.lua'
import { KINDS_IN_LUA } from './kinds.ts'
import lists from './lists.lua'
import odd from './odd.lua'
import oddTakes from './odd-takes.lua'
import oddWrites from './odd-writes.lua'
import operations from './operations.lua'
import rowChanges from './row-changes.lua'
import rows from './rows.lua'
import { cellsOf, type ScriptOfShape, type Shape, scriptsByShape, writtenFor } from './script.ts'
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
const NUMBERS = { NOW: 1, HEAD: 2, ROWS: 3, RECORDS: 4, TERMS: 5, OPERATIONS: 6, FIRST_TEXT: 7, LENGTHS: 7 } as const

/** Which of a script's keys is the first row: settings and lists stand before. */
const FIRST_ROW = 3

/** Which of a script's arguments the first revision is, if there is one. */
const REVISIONS = 4

/** When the record of an open hold ends, as its six bytes have it: never. */
const NEVER = 2 ** 48 - 1

const constants = {
  ...CODES,
  ...NUMBERS,
  UNDER_ID: -CODES.UNDER_ID,
  FIRST_ROW,
  REVISIONS,
  NEVER,
  // In place of how long a record is kept: for ever, not at all.
  ENDLESS: -1,
  GONE: 0,
  // Growths that a hold's record remembers, to know one that is asked for again.
  MAX_GROWTHS: 16,
}

/** Reads the revision of the settings in force, where any terms follow one. */
const readRevision = [
  'if n[FIRST_TEXT] > REVISIONS then',
  revision,
  "batch.revision = revision_of(call('GETRANGE', KEYS[1], 0, REVISION_BYTES - 1))",
  'end',
]

/** What kinds of limits differ in, for each cell. */
function constantsOfCells(shape: Shape): Record<string, string> {
  const texts: Record<string, string> = {}
  const calendars = cellsOf(shape, 'c')
  for (const [index, { kind }] of shape.cells.entries()) {
    const cell = index + 1
    const before = shape.cells.length + PERIOD_NUMBERS * calendars.indexOf(cell)
    const period = Array.from({ length: PERIOD_NUMBERS }, (_, number) => `n[kind + ${before + number + 1}]`)
    const ofCell = KINDS_IN_LUA[kind].texts(`n[${NUMBERS.LENGTHS + cell}]`, period)
    for (const [name, text] of Object.entries(ofCell)) texts[`${name}_${cell}`] = text
  }
  return texts
}

/**
 * Makes the script that carries out batches.
 *
 * @param more parts that add operations
 */
export function batchScripts(...more: readonly string[]): ScriptOfShape {
  const rare = [rowChanges, ids, operations, holdShared, holdRecord, holds, ...more]
  const makeRare = ['local function make_rare()', ...rare, 'return { other = other, known_take = known_take }', 'end']
  const makeOdd = ['local function make_odd()', lists, rows, oddTakes, oddWrites, ...makeRare, odd, 'end']
  const parts = [begin, ...readRevision, terms, ...makeOdd, take, write]
  return scriptsByShape((shape) => writtenFor(parts, shape, { ...constants, ...constantsOfCells(shape) }))
}

export const batchScript: ScriptOfShape = batchScripts()
