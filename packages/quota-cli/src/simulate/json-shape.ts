const QUOTE = 34
const BACKSLASH = 92
const SPACE = 32
const MINUS = 45
const DOT = 46
const ZERO = 48
const NINE = 57

/** The most values in a line whose shape is learned. */
export const MAX_VALUES = 128

/** Names with their colon, and values, in valid JSON. */
const TOKEN = /"(?:[^"\\]|\\.)*"(?<colon>\s*:)?|-?\d[\d.eE+-]*|true|false|null/g

/**
 * How one logger writes its lines: the text around the values. A line with the same text around other values is JSON
 * with the same names and nesting, and need not be parsed.
 */
export class JsonShape {
  /** The texts before the first value, between values, and after the last one; one byte per character. */
  readonly around: readonly string[]
  readonly #around: readonly Uint8Array[]

  private constructor(around: readonly string[]) {
    this.around = around
    this.#around = around.map((text) => Buffer.from(text, 'latin1'))
  }

  /**
   * @param line a JSON object, one byte per character
   * @returns `undefined` if it has too many values
   */
  static of(line: string): JsonShape | undefined {
    const around: string[] = []
    let last = 0
    for (const { 0: token, index, groups } of line.matchAll(TOKEN)) {
      if (groups?.colon !== undefined) continue
      around.push(line.slice(last, index))
      last = index + token.length
      if (around.length > MAX_VALUES) return undefined
    }
    around.push(line.slice(last))
    return new JsonShape(around)
  }

  /** The shape filled with other values. @param value as JSON, by the value's index from 0 */
  filled(value: (place: number) => string): string {
    return this.around.map((text, place) => (place === 0 ? text : `${value(place - 1)}${text}`)).join('')
  }

  /**
   * Whether a line has this shape. A line with escapes in its texts never does.
   *
   * @param spots receives the beginning and end of each value; texts include their quotes
   */
  fits(bytes: Uint8Array, start: number, end: number, spots: Int32Array): boolean {
    const around = this.#around
    const values = around.length - 1
    let at = start
    for (let place = 0; place < values; place++) {
      at = past(bytes, at, around[place]!)
      if (at === NOWHERE) return false
      const valueEnd = valueEndOf(bytes, at, end)
      if (valueEnd === NOWHERE) return false
      spots[2 * place] = at
      spots[2 * place + 1] = valueEnd
      at = valueEnd
    }
    return past(bytes, at, around[values]!) === end
  }
}

const NOWHERE = -1

function past(bytes: Uint8Array, at: number, text: Uint8Array): number {
  const { length } = text
  for (let i = 0; i < length; i++) if (bytes[at + i] !== text[i]) return NOWHERE
  return at + length
}

function valueEndOf(bytes: Uint8Array, start: number, end: number): number {
  const first = bytes[start]!
  if (first === QUOTE) return textEnd(bytes, start + 1, end)
  if (first === MINUS || (first >= ZERO && first <= NINE)) return numberEnd(bytes, start)
  for (const word of WORDS) {
    const at = past(bytes, start, word)
    if (at !== NOWHERE) return at
  }
  return NOWHERE
}

const WORDS: readonly Uint8Array[] = ['true', 'false', 'null'].map((word) => Buffer.from(word))

function textEnd(bytes: Uint8Array, start: number, end: number): number {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    if (byte === QUOTE) return at + 1
    if (byte === BACKSLASH || byte < SPACE) return NOWHERE
  }
  return NOWHERE
}

/** The end of a number. For anything but a JSON number it comes too early, so that the text around it doesn't match. */
function numberEnd(bytes: Uint8Array, start: number): number {
  let at = bytes[start] === MINUS ? start + 1 : start
  const whole = at
  at = bytes[at] === ZERO ? at + 1 : digitsEnd(bytes, at)
  if (at === whole) return NOWHERE
  if (bytes[at] === DOT) {
    const fraction = digitsEnd(bytes, at + 1)
    if (fraction === at + 1) return NOWHERE
    at = fraction
  }
  // "e" or "E": left to the parser.
  return (bytes[at]! | 32) === 101 ? NOWHERE : at
}

function digitsEnd(bytes: Uint8Array, start: number): number {
  let at = start
  while (bytes[at]! >= ZERO && bytes[at]! <= NINE) at++
  return at
}
