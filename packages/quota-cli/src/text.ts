import stringWidth from 'string-width'

/** The longest external name that a table shows, in characters. */
const MAX_SHOWN = 48

/**
 * External text on one line. Characters that move the cursor, change colors or turn the reading direction are removed.
 */
export function plain(text: string, most: number = MAX_SHOWN): string {
  const clean = text.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, '?')
  return clean.length <= most ? clean : `${clean.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

/** A whole number with separated thousands. */
export function counted(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 0 })
}

/** "1 line", "2 lines". */
export function several(count: number, what: string): string {
  return `${counted(count)} ${what}${count === 1 ? '' : 's'}`
}

/** A share in percent. It only shows 0 or 100 if that is exact. */
export function percent(part: number, whole: number): string {
  if (whole === 0 || part === 0) return '0 %'
  const share = (part / whole) * 100
  if (part < whole && share > 99.9) return '> 99.9 %'
  return share < 0.1 ? '< 0.1 %' : `${share.toFixed(1).replace(/\.0$/, '')} %`
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const

/** A duration in one or two units. */
export function lasting(ms: number): string {
  const at = UNITS.findIndex(([size]) => ms >= size)
  if (at === -1) return `${Math.round(ms)} ms`
  const [size, unit] = UNITS[at]!
  const whole = Math.floor(ms / size)
  const next = UNITS[at + 1]
  const rest = next === undefined ? 0 : Math.floor((ms - whole * size) / next[0])
  return rest === 0 ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${next![1]}`
}

/** An instant in UTC to the second. */
export function instant(at: number): string {
  return new Date(at).toISOString().replace(/\.\d{3}Z$/, 'Z')
}

export interface Column {
  readonly title: string
  /** @default 'left' */
  readonly align?: 'left' | 'right'
}

/** A table of rows, each column as wide as its widest cell. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const lines = [columns.map(({ title }) => title), ...rows]
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => stringWidth(line[index] ?? ''))))
  const cell = (text: string, index: number): string => {
    const padding = ' '.repeat(Math.max(0, widths[index]! - stringWidth(text)))
    return columns[index]!.align === 'right' ? padding + text : text + padding
  }
  return lines
    .map((line) =>
      columns
        .map((_, index) => cell(line[index] ?? '', index))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('')
}
