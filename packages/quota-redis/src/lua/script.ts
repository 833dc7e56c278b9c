/// <reference path="../lua.d.ts" />
import { createHash } from 'node:crypto'
import { CLOSED, GRACE_MS, type Layout, MAX_AHEAD_MS, MAX_USED } from '@scoregw/quota/store'

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

/** What a script is spelled out for: rows are decided as fast as their kinds of limit allow. */
export type Shape = Pick<Layout, 'cells' | 'size' | 'width' | 'calendars' | 'hasSlots'>

/** Of scripts that are not about rows. */
export const NO_ROWS: Shape = { cells: [], size: 0, width: 0, calendars: [], hasSlots: false }

/** What a script knows besides. */
export interface ScriptOptions {
  /** By name. */
  readonly constants?: typeof CONSTANTS
  /** Whether it knows of holds. */
  readonly holds?: boolean
  /** Whether it begins with `plan.lua`. */
  readonly plans?: boolean
}

/**
 * A script made of parts, one behind the other, for rows of a shape.
 *
 * `@{text|between}` stands for the text once a cell, `$` being its number; `@w{..}` once a window, `@r{..}` once a rolling
 * window, `@c{..}` once a calendar window, `@s{..}` once where there are slots. Lines between
 * `--#if name` and `--#end` are there where the shape has `calendars` or `slots`, or the script knows of `holds` or `plans`;
 * those behind `--#else` where not.
 */
export function scriptOf(
  parts: readonly string[],
  shape: Shape,
  { constants, holds = false, plans = false }: ScriptOptions = {},
): Script {
  const known: typeof CONSTANTS = { ...CONSTANTS, ...constants, ...sizesOf(shape) }
  const has: Readonly<Record<string, boolean>> = {
    calendars: shape.calendars.length > 0,
    slots: shape.hasSlots,
    holds,
    plans,
  }
  const numbers = cellNumbers(shape)
  const spelled = parts
    .join('\n')
    .replace(COMMENTS, '')
    .replace(
      /^ *--#if (\w+)\n([\s\S]*?)(?:^ *--#else\n([\s\S]*?))?^ *--#end\n/gm,
      (_, name: string, yes: string, no = '') => (has[name] === true ? yes : no),
    )
    .replace(/@([wrcs]?)\{([^|}]*)\|([^}]*)\}/g, (_, which: string, text: string, between: string) =>
      numbers[which]!.map((cell) => text.replaceAll('$', String(cell))).join(between),
    )
    .replace(NAMES, (name) => String(known[name] ?? name))
  return plainScript(spelled)
}

/** But for `--#`. */
const COMMENTS = /^ *--(?!#).*\n/gm
/** Constants stand in a script as what they are: Lua has none, and to fetch a variable costs a fortieth of a decision. */
const NAMES = /\b[A-Z][A-Z_]*\b/g

/** Cells of a row, its windows, those of the calendar, and its bytes. */
function sizesOf({ size, width, calendars }: Shape): Readonly<Record<string, number>> {
  return { W: size, V: width, CALENDARS: calendars.length, ROW_BYTES: 5 + 13 * size }
}

/** A script that is as it is written. */
export function plainScript(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

/** The numbers of cells, from 1: all, those of windows, of rolling windows, of calendar windows and of slots. */
function cellNumbers({ cells, width }: Shape): Readonly<Record<string, readonly number[]>> {
  const all = cells.map((_, index) => index + 1)
  const of = (kind: string): number[] => all.filter((cell) => cells[cell - 1]!.kind === kind)
  return { '': all, w: all.slice(0, width), r: of('rolling'), c: of('calendar'), s: all.slice(width) }
}

/** A script for rows of a shape. */
export type ScriptOfShape = (shape: Shape) => Script

/** Makes each script once a shape. */
export function scriptsByShape(make: ScriptOfShape): ScriptOfShape {
  const made = new Map<string, Script>()
  return (shape) => {
    const name = shape.cells.map(({ kind }) => kind).join()
    const known = made.get(name) ?? make(shape)
    made.set(name, known)
    return known
  }
}
