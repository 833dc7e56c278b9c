import begin from '../lua/begin.lua'
import decide from '../lua/decide.lua'
import holdIndex from '../lua/hold-index.lua'
import holdRecord from '../lua/hold-record.lua'
import holdShared from '../lua/hold-shared.lua'
import holds from '../lua/holds.lua'
import ids from '../lua/ids.lua'
import lists from '../lua/lists.lua'
import plan from '../lua/plan.lua'
import records from '../lua/records.lua'
import reply from '../lua/reply.lua'
import revision from '../lua/revision.lua'
import rows from '../lua/rows.lua'
import { type ScriptOfShape, scriptOf, scriptsByShape } from '../lua/script.ts'
import settle from '../lua/settle.lua'
import take from '../lua/take.lua'
import tariffs from '../lua/tariffs.lua'
import usual from '../lua/usual.lua'
import usualWrites from '../lua/usual-writes.lua'
import write from '../lua/write.lua'
import { CODES } from './codes.ts'

const TAKES = [revision, begin, rows, lists, tariffs, take, ids, settle]

/** Growths that a hold's record remembers, to know one that is asked for again. */
const MAX_GROWTHS = 16

const constants = { ...CODES, FIRST_ROW: 3, MAX_GROWTHS }

/** The script that carries out a batch. */
export const decideScript: ScriptOfShape = scriptsByShape((shape) =>
  scriptOf([plan, usualWrites, usual, ...TAKES, decide, write, records, reply], shape, { constants, plans: true }),
)

/** The same without what is spelled out for the usual batch; for tests, which compare the two. */
export const generalScript: ScriptOfShape = scriptsByShape((shape) =>
  scriptOf([plan, ...TAKES, decide, write, records, reply], shape, { constants, plans: true }),
)

/** The same for batches in which there are holds. */
export const holdScript: ScriptOfShape = scriptsByShape((shape) =>
  scriptOf([...TAKES, holdShared, holdRecord, holds, decide, write, records, holdIndex, reply], shape, {
    constants,
    holds: true,
  }),
)

/** What they answer who decide a batch as the usual one: see `lua/usual.lua`. */
export type UsualReply = Buffer

/** What all others answer: see `lua/decide.lua`. */
export type DecideReply = readonly [
  now: Buffer,
  letters: Buffer,
  stored: readonly Buffer[],
  before: readonly (Buffer | null)[],
  revision: Buffer,
]
