/** Longest name from outside that a table shows, in characters. */
const MAX_SHOWN = 48

/** A text from outside on one line: no character of it moves a cursor, changes a colour, or turns the reading direction. */
export function plain(text: string, most: number = MAX_SHOWN): string {
  const clean = text.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, '?')
  return clean.length <= most ? clean : `${clean.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

/** A whole number with thousands apart. */
export function counted(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 0 })
}

/** "1 line", "2 lines". */
export function several(count: number, what: string): string {
  return `${counted(count)} ${what}${count === 1 ? '' : 's'}`
}
