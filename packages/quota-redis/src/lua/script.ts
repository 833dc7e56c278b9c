/// <reference path="../lua.d.ts" />
import { createHash } from 'node:crypto'
import { CLOSED, GRACE_MS, MAX_AHEAD_MS, MAX_USED } from '@scoregw/quota/store'

/** A script as servers know it. */
export interface Script {
  readonly text: string
  /** What EVALSHA calls it. */
  readonly sha: string
}

/** First byte of a row. */
export const ROW_VERSION = 2
/** How many bytes of the settings' key are their revision. */
export const REVISION_BYTES = 22
/** What a reply shows in place of a row that cannot be read. */
export const DAMAGED = 'b'

/** Names that every script knows; all numbers of the state machine come from where it is. */
const CONSTANTS: Readonly<Record<string, number | string>> = {
  CLOSED,
  GRACE_MS,
  MAX_AHEAD_MS,
  MAX_USED,
  ROW_VERSION,
  REVISION_BYTES,
  DAMAGED: `'${DAMAGED}'`,
}

/**
 * A script made of parts, one behind the other, for rows of so many windows. `@{text|between}` stands for the text once a
 * window, `$` being its number.
 *
 * @param constants what the parts know by name besides
 */
export function scriptOf(parts: readonly string[], width: number, constants: typeof CONSTANTS = {}): Script {
  const known = Object.entries({ ...CONSTANTS, ...constants, W: width })
  const head = `local ${known.map(([name]) => name).join(', ')} = ${known.map(([, value]) => value).join(', ')}`
  const windows = Array.from({ length: width }, (_, index) => String(index + 1))
  const spelled = [head, ...parts]
    .join('\n')
    .replace(/@\{([^|}]*)\|([^}]*)\}/g, (_, text: string, between: string) =>
      windows.map((window) => text.replaceAll('$', window)).join(between),
    )
  return { text: spelled, sha: createHash('sha1').update(spelled).digest('hex') }
}

/** A script for rows of so many windows. */
export type ScriptOfWidth = (width: number) => Script

/** Makes each script once a width. */
export function scriptsByWidth(make: ScriptOfWidth): ScriptOfWidth {
  const made = new Map<number, Script>()
  return (width) => {
    const known = made.get(width) ?? make(width)
    made.set(width, known)
    return known
  }
}
