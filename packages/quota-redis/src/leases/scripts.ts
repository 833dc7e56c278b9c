import begin from '../counters/lua/begin.lua'
import constants from '../counters/lua/constants.lua'
import finish from '../counters/lua/finish.lua'
import lists from '../counters/lua/lists.lua'
import numbers from '../counters/lua/numbers.lua'
import state from '../counters/lua/state.lua'
import takes from '../counters/lua/takes.lua'
import tariffs from '../counters/lua/tariffs.lua'
import unusualTakes from '../counters/lua/unusual-takes.lua'
import writes from '../counters/lua/writes.lua'
import revision from '../lua/revision.lua'
import { type Script, scriptOf } from '../lua/script.ts'
import book from './lua/book.lua'
import grant from './lua/grant.lua'
import returnLease from './lua/return.lua'

/** Most parts come from the counters' script, so that both read and write rows in the same way. */
const PARTS = {
  '../../counters/lua/begin': begin,
  '../../counters/lua/finish': finish,
  '../../counters/lua/lists': lists,
  '../../counters/lua/state': state,
  '../../counters/lua/unusual-takes': unusualTakes,
  '../../counters/lua/writes': writes,
  '../../lua/revision': revision,
  book,
  constants,
  numbers,
  takes,
  tariffs,
} as const

export const GRANT_SCRIPT: Script = scriptOf(grant, PARTS)
export const RETURN_SCRIPT: Script = scriptOf(returnLease, PARTS)
