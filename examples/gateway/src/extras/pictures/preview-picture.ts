import { type Chart, type Level, type NoteCounts, totalOf } from '../../charts/chart.ts'

const WIDTH = 480
const HEIGHT = 270
const MARGIN = 24
/** Where the bars start, and the length of the longest. */
const BARS_X = 110
const BARS_WIDTH = 290

const LEVEL_NAMES: Readonly<Record<Level, string>> = {
  0: 'Basic',
  1: 'Advanced',
  2: 'Expert',
  3: 'Master',
  4: 'Re:Master',
  10: 'Utage',
}

/** Dark enough for white text. */
const LEVEL_COLORS: Readonly<Record<Level, string>> = {
  0: '#2f7d32',
  1: '#a15c00',
  2: '#b3262e',
  3: '#7a2fa0',
  4: '#5b4a8a',
  10: '#a0306e',
}

const KINDS: readonly (readonly [keyof NoteCounts, string])[] = [
  ['taps', 'Tap'],
  ['holds', 'Hold'],
  ['slides', 'Slide'],
  ['touches', 'Touch'],
  ['breaks', 'Break'],
]

/** A picture of a chart as SVG: its difficulty and its notes by kind. Text only, no scripts. */
export function previewPicture(chart: Chart): string {
  const { title, level, difficulty, constant, artist } = chart
  const name = `${LEVEL_NAMES[level]} ${difficulty ?? '?'}`
  const exact = constant === null ? '' : ` (${constant.toFixed(1)})`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" font-family="sans-serif">`,
    `<title>${escaped(`${title}, ${name}`)}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    `<rect width="${WIDTH}" height="72" fill="${LEVEL_COLORS[level]}"/>`,
    text({ x: MARGIN, y: 32, size: 20, fill: '#ffffff' }, shortened(title, 38)),
    text(
      { x: MARGIN, y: 58, size: 14, fill: '#ffffff' },
      `${name}${exact}${artist === null ? '' : ` · ${shortened(artist, 30)}`}`,
    ),
    ...bars(chart),
    '</svg>',
  ].join('\n')
}

function bars({ counts, notes, level }: Chart): string[] {
  if (counts === null) {
    const known = notes === null ? 'Its notes have not been counted.' : `${notes} notes`
    return [text({ x: MARGIN, y: 110, size: 14, fill: '#333333' }, known)]
  }
  const most = Math.max(1, ...KINDS.map(([kind]) => counts[kind]))
  const rows = KINDS.flatMap(([kind, label], index) => {
    const y = 96 + index * 28
    const width = Math.round((counts[kind] / most) * BARS_WIDTH)
    return [
      text({ x: MARGIN, y: y + 14, size: 14, fill: '#333333' }, label),
      `<rect x="${BARS_X}" y="${y}" width="${width}" height="18" rx="3" fill="${LEVEL_COLORS[level]}"/>`,
      text({ x: BARS_X + width + 8, y: y + 14, size: 14, fill: '#333333' }, String(counts[kind])),
    ]
  })
  return [...rows, text({ x: MARGIN, y: 252, size: 14, fill: '#333333' }, `${totalOf(counts)} notes in all`)]
}

interface Place {
  readonly x: number
  readonly y: number
  readonly size: number
  readonly fill: string
}

function text({ x, y, size, fill }: Place, content: string): string {
  return `<text x="${x}" y="${y}" font-size="${size}" fill="${fill}">${escaped(content)}</text>`
}

function shortened(content: string, most: number): string {
  const characters = [...content]
  return characters.length <= most ? content : `${characters.slice(0, most - 1).join('')}…`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Removes characters that XML can't express, and escapes the rest. */
function escaped(content: string): string {
  return [...content]
    .filter(isXmlCharacter)
    .map((character) => ENTITIES[character] ?? character)
    .join('')
}

/** Production 2 of XML 1.0. */
function isXmlCharacter(character: string): boolean {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd
  return code <= 0xd7ff || (code >= 0xe000 && code !== 0xfffe && code !== 0xffff)
}
