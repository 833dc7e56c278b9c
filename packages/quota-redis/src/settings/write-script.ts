import revision from '../lua/revision.lua'
import { type Script, scriptOf } from '../lua/script.ts'
import write from './write.lua'

/** Writes or removes one document. */
export const WRITE_SETTINGS: Script = scriptOf(write, { '../lua/revision': revision })
