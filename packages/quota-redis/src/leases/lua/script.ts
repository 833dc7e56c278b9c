/// <reference path="../../lua.d.ts" />
import { CLOSED, GRACE_MS, type KindName, MAX_AHEAD_MS, MAX_USED, PERIOD_NUMBERS } from '@scoregw/quota/store'
import { REVISION_BYTES, type Script, scriptOf } from '../../lua/script.ts'
import { KINDS_IN_LUA } from './kinds.ts'

/** First byte of a row. */
export const ROW_VERSION = 2
/** What a reply shows all over in place of a row that cannot be read. */
export const DAMAGED = 'b'
/** Characters of a table's name in keys and records. */
const TABLE_BYTES = 5

/** What a script is written out for: cells in the order of a row, and how many units there are beside slots. */
export interface Shape {
  readonly cells: readonly { readonly kind: KindName; readonly unit: number }[]
  readonly units: number
}

/** Of scripts that are not about rows. */
const NO_ROWS: Shape = { cells: [], units: 0 }

/** What stands once for each cell or unit; other letters are none, so that Lua refuses them. */
const LETTERS = Object.values(KINDS_IN_LUA).map(({ letters }) => letters)
const EACH = new RegExp(`@([u${LETTERS.join('')}]?)\\{([^|}]*)\\|([^}]*)\\}`, 'g')

/** Names in scripts that stand for numbers and texts. */
type Constants = Readonly<Record<string, number | string>>

/**
 * Writes a script out for rows of a shape, from parts that stand one behind the other.
 *
 * `@{text|between}` stands for the text once a cell, `$` being its number and `%` its unit's; `@w{..}` once a window, `@c{..}`
 * once a calendar window, `@s{..}` once where there are slots, `@u{..}` once a unit (`$` is its number), slots left out. Names
 * in capitals stand for what `constants` says: Lua has no constants, and to fetch a variable costs a fortieth of a decision.
 */
export function writtenFor(parts: readonly string[], shape: Shape = NO_ROWS, constants: Constants = {}): Script {
  const known: Constants = { ...constantsOf(shape), ...constants }
  const { cells } = shape
  const written = parts
    .join('\n')
    .replace(/^ *--.*\n/gm, '')
    .replace(EACH, (_, which: string, each: string, between: string) =>
      cellsOf(shape, which)
        .map((number) =>
          each.replaceAll('$', String(number)).replaceAll('%', String(1 + (cells[number - 1]?.unit ?? 0))),
        )
        .join(between),
    )
    .replace(/\b[A-Z][A-Z_]*(?:_\d+)?\b/g, (name) => String(known[name] ?? name))
  return scriptOf(written)
}

function constantsOf(shape: Shape): Constants {
  const { cells, units } = shape
  const windows = cellsOf(shape, 'w').length
  const slots = cells.length - windows
  const rowBytes = 5 + 13 * cells.length
  return {
    CLOSED,
    GRACE_MS,
    MAX_AHEAD_MS,
    MAX_USED,
    ROW_VERSION,
    REVISION_BYTES,
    TABLE_BYTES,
    SIZE: cells.length,
    WINDOWS: windows,
    UNITS: units,
    UNITS_AND_SLOTS: units + slots,
    KIND_NUMBERS: cells.length + PERIOD_NUMBERS * cellsOf(shape, 'c').length,
    ROOM: 2 * cells.length,
    FULL: 2 * cells.length + units + slots,
    NOTHING: -1,
    UNTOUCHED: 0,
    ROW_BYTES: rowBytes,
    USED_BYTES: 7 * windows,
    BLANK_ROW: `'${'\\0'.repeat(rowBytes)}'`,
    DAMAGED_ROW: `'${DAMAGED.repeat(rowBytes)}'`,
    DAMAGED: `'${DAMAGED}'`,
  }
}

/** The numbers, from 1, of what a letter stands for; without a letter, of all cells. */
export function cellsOf({ cells, units }: Shape, letter: string): readonly number[] {
  if (letter === 'u') return Array.from({ length: units }, (_, index) => index + 1)
  return cells.flatMap(({ kind }, index) => (KINDS_IN_LUA[kind].letters.includes(letter) ? [index + 1] : []))
}

/** A script for rows of a shape. */
export type ScriptOfShape = (shape: Shape) => Script

/** Makes each script once a shape. */
export function scriptsByShape(make: ScriptOfShape): ScriptOfShape {
  const made = new Map<string, Script>()
  return (shape) => {
    const name = `${shape.units} ${shape.cells.map(({ kind, unit }) => `${kind} ${unit}`).join()}`
    const known = made.get(name) ?? make(shape)
    made.set(name, known)
    return known
  }
}
