import begin from '../lua/begin.lua'
import lists from '../lua/lists.lua'
import revision from '../lua/revision.lua'
import rows from '../lua/rows.lua'
import { type ScriptOfWidth, scriptOf, scriptsByWidth } from '../lua/script.ts'
import write from '../lua/write.lua'
import grant from './grant.lua'
import granted from './granted.lua'
import giveBack from './return.lua'

const CONSTANTS = { FIRST_ROW: 4 }

/** Charges and leases, for rows of so many windows. */
export const grantScript: ScriptOfWidth = scriptsByWidth((width) =>
  scriptOf([revision, begin, rows, lists, grant, write, granted], width, CONSTANTS),
)

/** Takes a lease back. */
export const returnScript: ScriptOfWidth = scriptsByWidth((width) =>
  scriptOf([revision, begin, rows, lists, giveBack, write, 'return tokens'], width, CONSTANTS),
)
