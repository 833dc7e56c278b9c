import begin from '../lua/begin.lua'
import lists from '../lua/lists.lua'
import revision from '../lua/revision.lua'
import rows from '../lua/rows.lua'
import { type ScriptOfShape, scriptOf, scriptsByShape } from '../lua/script.ts'
import write from '../lua/write.lua'
import grant from './grant.lua'
import granted from './granted.lua'
import giveBack from './return.lua'

const constants = { FIRST_ROW: 4 }

/** Charges and leases. */
export const grantScript: ScriptOfShape = scriptsByShape((shape) =>
  scriptOf([revision, begin, rows, lists, grant, write, granted], shape, { constants }),
)

/** Takes a lease back. */
export const returnScript: ScriptOfShape = scriptsByShape((shape) =>
  scriptOf([revision, begin, rows, lists, giveBack, write, 'return tokens'], shape, { constants }),
)
