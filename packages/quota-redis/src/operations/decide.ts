import begin from '../lua/begin.lua'
import decide from '../lua/decide.lua'
import ids from '../lua/ids.lua'
import lists from '../lua/lists.lua'
import reply from '../lua/reply.lua'
import revision from '../lua/revision.lua'
import rows from '../lua/rows.lua'
import { type ScriptOfWidth, scriptOf, scriptsByWidth } from '../lua/script.ts'
import settle from '../lua/settle.lua'
import take from '../lua/take.lua'
import tariffs from '../lua/tariffs.lua'
import write from '../lua/write.lua'
import { CODES } from './codes.ts'

const PARTS = [revision, begin, rows, lists, tariffs, take, ids, settle, decide, write, reply]

/** The script that carries out a batch, for rows of so many windows. */
export const decideScript: ScriptOfWidth = scriptsByWidth((width) => scriptOf(PARTS, width, { ...CODES, FIRST_ROW: 3 }))

/** What it answers: see `lua/decide.lua`. */
export type DecideReply = readonly [
  now: Buffer,
  letters: Buffer,
  stored: readonly Buffer[],
  before: readonly (Buffer | null)[],
  revision: Buffer,
]
