import revision from '../lua/revision.lua'
import { type Script, scriptOf } from '../lua/script.ts'
import batch from './lua/batch.lua'
import begin from './lua/begin.lua'
import constants from './lua/constants.lua'
import finish from './lua/finish.lua'
import lists from './lua/lists.lua'
import numbers from './lua/numbers.lua'
import read from './lua/read.lua'
import settle from './lua/settle.lua'
import state from './lua/state.lua'
import steps from './lua/steps.lua'
import take from './lua/take.lua'
import takes from './lua/takes.lua'
import tariffs from './lua/tariffs.lua'
import unusualTakes from './lua/unusual-takes.lua'
import writes from './lua/writes.lua'

/** The script that carries out one take. */
export const TAKE_SCRIPT: Script = scriptOf(take)

/** The script that carries out one read. */
export const READ_SCRIPT: Script = scriptOf(read)

/** The script that settles one reservation or hold. */
export const SETTLE_SCRIPT: Script = scriptOf(settle)

/** The parts of the script of batches, by the names that its files include them by. */
const PARTS = {
  '../../lua/revision': revision,
  begin,
  constants,
  finish,
  lists,
  numbers,
  state,
  steps,
  takes,
  tariffs,
  'unusual-takes': unusualTakes,
  writes,
}

/** The script that carries out batches. */
export const BATCH_SCRIPT: Script = scriptOf(batch, PARTS)

/** A script of another folder that reads and writes rows as batches do, with the same parts. */
export function scriptOnRows(text: string, parts: Readonly<Record<string, string>>): Script {
  const fromThere = Object.entries(PARTS).map(([name, part]) => [`../../counters/lua/${name}`, part])
  return scriptOf(text, { ...PARTS, ...Object.fromEntries(fromThere), ...parts })
}
